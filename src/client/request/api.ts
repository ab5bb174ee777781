import createClient, { type Client, type Middleware } from 'openapi-fetch';
import type { components, paths } from '../generated/openapi.d.ts';
import { randomKey } from '../random-key.ts';
import type { Requester } from './requester.ts';

/** Every operation of the API document by method and path: `api.GET('/api/containers/{id}', …)`. */
export type Api = Client<paths>;

/** The wire's objects by their names in the API document. */
export type Schemas = components['schemas'];

/** The filters and the order of a list. */
export type ListQuery<P extends keyof paths> = paths[P] extends {
  readonly get: { readonly parameters: { readonly query?: infer Q } };
}
  ? Omit<NonNullable<Q>, 'cursor' | 'limit'>
  : never;

/** Of every call. Aborting rejects with the signal's reason. */
export type CallOptions = { readonly signal?: AbortSignal };

/** The operations that take an `Idempotency-Key`; each call gets one of its own. */
export const KEYED_OPERATIONS: ReadonlySet<string> = new Set([
  'POST /api/containers',
  'POST /api/containers/{id}/processes',
  'POST /api/containers/{id}/snapshots',
  'POST /api/containers/{id}/forks',
  'POST /api/tokens',
  'POST /api/tokens/derive',
  'PATCH /api/containers/{id}',
]);

const KEY = 'idempotency-key';

const withKey: Middleware = {
  onRequest({ request, schemaPath }) {
    if (KEYED_OPERATIONS.has(`${request.method} ${schemaPath}`) && !request.headers.has(KEY))
      request.headers.set(KEY, randomKey());
  },
};

/** Typed calls over a requester. They throw a `BerthError` instead of answering with `error`. */
export function apiOf(requester: Requester): Api {
  const api = createClient<paths>({
    baseUrl: requester.server,
    fetch: async (request) =>
      requester.send(request.url, {
        method: request.method,
        headers: request.headers,
        signal: request.signal,
        ...(request.method !== 'GET' && { content: await request.arrayBuffer() }),
      }),
  });
  api.use(withKey);
  return api;
}

/** The parameters of a call for the thing with this id. */
export const at = (id: string, options?: CallOptions) => ({ params: { path: { id } }, ...options });

/** The body of a good answer. */
export const dataOf = async <D>(call: Promise<{ readonly data?: D }>): Promise<Exclude<D, undefined>> =>
  (await call).data as Exclude<D, undefined>;
