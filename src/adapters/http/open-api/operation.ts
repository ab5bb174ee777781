import type { RouteOptions } from 'fastify';
import type { RouteScope } from '../../../domain/identity/scope.ts';
import type { Operation, Schema } from './document.ts';
import { addErrors } from './error-responses.ts';
import { errorsOf } from './route-errors.ts';
import { tagOf } from './tags.ts';

const NEEDS: { readonly [S in RouteScope]: string } = {
  public: 'Public: no credential is needed.',
  login: 'Needs a login token: no scope grants this to an API token.',
  api_token: 'Needs an API token, of any scope.',
  read: 'Needs a login token, or an API token with the scope `read`.',
  write: 'Needs a login token, or an API token with the scope `write`.',
  admin: 'For administrators, with a login token or an API token with the scope `admin`.',
};

/** Completes the library's description of a route by what follows from its scope, its media types and its errors. */
export function completeOperation(operation: Operation, route: RouteOptions): void {
  const { config, schema, url } = route;
  const scope = config?.scope ?? 'public';
  const notes = [
    schema?.description,
    NEEDS[scope],
    config?.forRestricted ? 'Open to tokens restricted to containers, for these.' : undefined,
    config?.whileLocked ? 'Also open to a locked session.' : undefined,
    config?.shutAfterReset ? 'Shut to the session of an older passkey for an hour after a reset.' : undefined,
    config?.allowsLocal ? 'Local programs need no credential.' : undefined,
    config?.detailsForAdmins ? 'Administrators also get the reasons.' : undefined,
  ];
  operation.description = notes.filter((note) => note !== undefined).join(' ');
  operation.tags = [tagOf(url)];
  operation['x-berth-scope'] = scope;
  if (config?.forRestricted) operation['x-berth-for-restricted-tokens'] = true;
  operation.security ??= securityOf(route);
  describeBodies(operation, schema);
  addErrors(operation, errorsOf(route));
}

/** Scopes belong to OAuth there, so the route's is in `x-berth-scope`. */
function securityOf({ config }: RouteOptions): Record<string, string[]>[] {
  const { scope = 'public', detailsForAdmins, allowsLocal } = config ?? {};
  const login = { loginToken: [] };
  const token = { apiToken: [] };
  if (detailsForAdmins || allowsLocal) return [{}, login, token];
  if (scope === 'public') return [];
  if (scope === 'login') return [login];
  return scope === 'api_token' ? [token] : [login, token];
}

/** What the library writes. */
const UNDESCRIBED = 'Default Response';

const WORDS: Readonly<Record<string, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Still in progress: events report the end.',
};

function describeBodies(operation: Operation, schema: RouteOptions['schema']): void {
  const { responses, requestBody } = operation;
  const media = Object.fromEntries((schema?.alsoAs ?? []).map((type) => [type, { schema: bodyOf(type) }]));
  const declared = Object.keys((schema?.response as object | undefined) ?? {});
  for (const [status, response] of Object.entries(responses)) {
    if (response.description === UNDESCRIBED) response.description = WORDS[status] ?? UNDESCRIBED;
    if (!declared.includes(status)) delete response.content;
    if (status === '200' && schema?.alsoAs) response.content = { ...response.content, ...media };
  }
  // A missing body counts as an empty object.
  const body = schema?.body as { required?: unknown } | undefined;
  if (requestBody && body?.required === undefined) delete requestBody.required;
  if (schema?.takes) {
    operation.requestBody = { required: true, content: { [schema.takes]: { schema: bodyOf(schema.takes) } } };
  }
}

const bodyOf = (type: string): Schema =>
  type.startsWith('text/') || type.includes('json') || type.includes('asciicast')
    ? { type: 'string' }
    : { type: 'string', format: 'binary' };
