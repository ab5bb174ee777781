import t from 'tap';
import type { RouteScope } from '../../../src/domain/identity/scope.ts';
import { NOBODY } from '../../support/database/stored.ts';
import { aServiceInTime, type InTime, logIn, withMfa } from '../../support/service/factors.ts';
import { aGuest, anAdmin, anApiToken, aPerson, as, type Bearer } from '../../support/service/service.ts';

const KINDS = [
  'nobody',
  'other',
  'collaborator',
  'owner',
  'guest',
  'token read',
  'token write',
  'token admin',
  'administrator',
  'locked',
  'waiting',
] as const;
type Kind = (typeof KINDS)[number];

/** A route's answers; unnamed kinds get those of its scope below. */
type Row = {
  readonly scope: RouteScope;
  /** Status for the object's owner. */
  readonly ok: number;
  /** Status for others, if different. */
  readonly foreign?: number;
  /** Status for participants of the container; 403 by default for an owned object. */
  readonly shared?: number;
  readonly payload?: object;
  readonly headers?: Record<string, string>;
  readonly but?: Partial<Record<Kind, number>>;
};

const login = { scope: 'login' } as const;
const notGuests = { but: { guest: 403 } } as const;
const read = { scope: 'read' } as const;
const write = { scope: 'write' } as const;
const admin = { scope: 'admin' } as const;
const publicly = { scope: 'public' } as const;
const box = { foreign: 404 } as const;
/** Collaborators may know the container, but not what is in it. */
const ofProcess = { but: { collaborator: 403 } } as const;

/**
 * Objects are `:box` (the owner's container), `:share` (its collaboration), `:none` and `:process_id` (nothing); payloads change
 * nothing.
 */
const TABLE: Readonly<Record<string, Row>> = {
  'GET /livez': { ...publicly, ok: 200 },
  'GET /readyz': { ...publicly, ok: 200 },
  // As through a proxy: local programs need no credential.
  'GET /metrics': { ...admin, ok: 200, headers: { 'x-forwarded-for': '192.0.2.1' } },
  'GET /api/version': { ...publicly, ok: 200 },
  'GET /api/ssh/host-keys': { ...publicly, ok: 200 },
  'GET /api/openapi.json': { ...publicly, ok: 200 },
  'GET /docs': { ...publicly, ok: 200 },
  'GET /docs/json': { ...publicly, ok: 302 },
  'GET /docs/yaml': { ...publicly, ok: 200 },
  'GET /docs/static/index.html': { ...publicly, ok: 302 },
  'GET /docs/static/swagger-initializer.js': { ...publicly, ok: 200 },
  'GET /docs/static/theme/colours.css': { ...publicly, ok: 200 },
  'GET /docs/static/theme/colours.js': { ...publicly, ok: 200 },
  'GET /docs/static/theme/reader.js': { ...publicly, ok: 200 },
  'GET /docs/static/*': { ...publicly, ok: 404 },
  'GET /api/auth/options': { ...publicly, ok: 200 },
  'POST /api/auth/setup': { ...publicly, ok: 400 },
  'POST /api/auth/setup/check': { ...publicly, ok: 400 },
  'POST /api/auth/register': { ...publicly, ok: 400 },
  'POST /api/auth/refresh': { ...publicly, ok: 401 },
  'POST /api/auth/guest': { ...publicly, ok: 400, payload: { username: '-' } },
  'POST /api/auth/login': { ...publicly, ok: 400 },
  'POST /api/auth/mfa': { ...publicly, ok: 400 },
  'POST /api/auth/mfa/options': { ...publicly, ok: 400 },
  'POST /api/auth/passkey/options': { ...publicly, ok: 200 },
  'POST /api/auth/passkey/verify': { ...publicly, ok: 400 },
  'GET /api/auth/oidc/start': { ...publicly, ok: 303 },
  'GET /api/auth/oidc/callback': { ...publicly, ok: 303 },
  'POST /api/auth/oidc/invitation': { ...publicly, ok: 400 },
  'POST /api/auth/oidc/finish': { ...publicly, ok: 400 },
  'POST /api/auth/oidc/backchannel-logout': { ...publicly, ok: 400 },
  'POST /api/auth/device': { ...publicly, ok: 400 },
  'POST /api/auth/device/token': { ...publicly, ok: 400 },
  'POST /api/auth/device/find': { ...login, ok: 400 },
  'POST /api/auth/device/approve': { ...login, ok: 400 },
  'POST /api/auth/device/deny': { ...login, ok: 400 },
  'POST /api/auth/invitations/check': { ...publicly, ok: 400 },
  'POST /api/auth/invitations/accept': { ...publicly, ok: 400 },
  'POST /api/auth/resets/check': { ...publicly, ok: 400 },
  'POST /api/auth/resets/use': { ...publicly, ok: 400 },
  'POST /api/auth/logout': { ...login, ok: 200, but: { locked: 200 } },

  'GET /api/me': { ...read, ok: 200, but: { locked: 200 } },
  'PATCH /api/me': { ...write, ok: 200, payload: {} },
  'POST /api/me/password': { ...login, ok: 400 },
  'POST /api/me/confirm': { ...login, ...notGuests, ok: 200, payload: {} },
  'GET /api/me/mfa': { ...login, ok: 200 },
  'POST /api/me/mfa': { ...login, ...notGuests, ok: 200 },
  'DELETE /api/me/mfa': { ...login, ok: 400 },
  'POST /api/me/mfa/confirm': { ...login, ok: 400 },
  'POST /api/me/mfa/recovery-codes': { ...login, ok: 400 },
  'GET /api/me/passkeys': { ...login, ok: 200 },
  'POST /api/me/passkeys/options': { ...login, ...notGuests, ok: 200 },
  'POST /api/me/passkeys/verify': { ...login, ok: 400 },
  'PATCH /api/me/passkeys/:none': { ...login, ok: 404, payload: { name: 'x' } },
  'DELETE /api/me/passkeys/:none': { ...login, ...notGuests, ok: 404 },
  'GET /api/me/identities': { ...login, ok: 200 },
  'POST /api/me/identities/start': { ...login, ...notGuests, ok: 404, payload: { purpose: 'link' } },
  'POST /api/me/identities/finish': { ...login, ok: 400, payload: { id: 'x' } },
  'DELETE /api/me/identities/:none': { ...login, ...notGuests, ok: 404 },
  'PUT /api/me/lock': { ...login, ok: 400 },
  'DELETE /api/me/lock': { ...login, ok: 200 },
  'GET /api/me/ssh-keys': { ...read, ok: 200 },
  'POST /api/me/ssh-keys': { ...write, ok: 400 },
  'DELETE /api/me/ssh-keys/:none': { ...write, ok: 404 },

  'GET /api/sessions': { ...login, ok: 200 },
  'POST /api/sessions/lock': { ...login, ok: 409 },
  'POST /api/sessions/unlock': { ...login, ok: 400, but: { locked: 400 } },
  'POST /api/sessions/revoke-others': { ...login, ok: 400, payload: { reason: 7 } },
  'DELETE /api/sessions/:none': { ...login, ok: 404 },

  'POST /api/tokens': { ...login, ok: 400 },
  'POST /api/tokens/derive': { ...read, ok: 400 },
  'GET /api/tokens': { ...login, ok: 200 },
  'GET /api/tokens/validate': { scope: 'api_token', ok: 200, but: { locked: 401 } },
  'POST /api/tokens/:none/revoke': { ...login, ok: 404 },
  'DELETE /api/tokens/:none': { ...login, ok: 404 },

  'POST /api/agents/enrol': { ...publicly, ok: 400 },
  'POST /api/agents/enrolments': { ...write, ok: 201, but: { guest: 409 } },
  'GET /api/agents/connect': { ...write, ok: 400 },

  'GET /api/tiers': { ...read, ok: 200 },
  'GET /api/engine': { ...read, ok: 200 },
  'GET /api/images': { ...read, ok: 200 },
  'GET /api/roles': { ...read, ok: 200 },
  'GET /api/announcements': { ...read, ok: 200 },
  'GET /api/audit': { ...read, ok: 200 },
  'POST /api/mcp': { ...read, ok: 400 },
  'GET /api/mcp': { ...read, ok: 405 },
  'GET /api/events': { ...read, ok: 426 },

  'POST /api/containers': { ...write, ok: 400 },
  'GET /api/containers': { ...read, ok: 200 },
  'GET /api/figures': { ...read, ok: 400 },
  'GET /api/containers/:box': { ...read, ...box, shared: 200, ok: 200 },
  'PATCH /api/containers/:box': { ...write, ok: 400 },
  'DELETE /api/containers/:none': { ...write, ok: 404 },
  'POST /api/containers/:box/start': { ...write, ...box, ok: 200 },
  'POST /api/containers/:none/stop': { ...write, ok: 404 },
  'POST /api/containers/:box/restore': { ...write, ok: 404 },
  'POST /api/containers/:box/purge': { ...write, ok: 404, payload: { name: 'dev' } },
  'POST /api/containers/:box/exec': { ...write, ...box, ok: 200, payload: { command: ['true'] } },
  'GET /api/containers/:box/exec': { ...write, ...box, ok: 426 },
  'POST /api/containers/:box/processes': { ...write, ...box, ok: 201, payload: { command: ['true'] } },
  'GET /api/containers/:box/processes': { ...read, ...box, ok: 200 },
  'GET /api/containers/:box/processes/:process_id': { ...read, ...ofProcess, ok: 404 },
  'DELETE /api/containers/:box/processes/:process_id': { ...write, ...ofProcess, ok: 404 },
  'GET /api/containers/:box/processes/:process_id/output': { ...read, ...ofProcess, ok: 404 },
  'GET /api/containers/:box/processes/:process_id/attach': { ...write, ...ofProcess, ok: 404 },
  'POST /api/containers/:box/processes/:process_id/resize': {
    ...write,
    ...ofProcess,
    ok: 404,
    payload: { cols: 80, rows: 24 },
  },
  'POST /api/containers/:box/processes/:process_id/signal': {
    ...write,
    ...box,
    ok: 404,
    payload: { signal: 'INT' },
  },
  'POST /api/containers/:box/processes/:process_id/input': { ...write, ...ofProcess, ok: 404 },
  'GET /api/containers/:box/files': { ...read, ...box, ok: 200 },
  'PUT /api/containers/:box/files': { ...write, ok: 400 },
  'DELETE /api/containers/:box/files': { ...write, ok: 400 },
  'POST /api/containers/:box/files/search': { ...read, ...box, ok: 200, payload: { pattern: 'x' } },
  'GET /api/containers/:box/files/watch': { ...read, ...box, ok: 426 },
  'GET /api/containers/:box/logs': { ...read, ...box, ok: 200 },
  'GET /api/containers/:box/ports': { ...read, ...box, ok: 200 },
  'GET /api/containers/:box/stats': { ...read, ...box, ok: 200 },
  'GET /api/containers/:box/changes': { ...read, ...box, ok: 200 },
  'GET /api/containers/:box/lifetime': { ...read, ...box, ok: 200 },
  'PATCH /api/containers/:box/lifetime': { ...write, ...box, ok: 200, payload: {} },
  'POST /api/containers/:box/role-setup/retry': { ...write, ...box, ok: 409 },
  'POST /api/containers/:box/role-setup/cancel': { ...write, ...box, ok: 409 },
  'POST /api/containers/:box/recordings': { ...write, ...box, ok: 409, payload: {} },
  'POST /api/containers/:box/snapshots': { ...write, ...box, ok: 400, payload: { name: 'a b' } },
  'POST /api/containers/:box/forks': { ...write, ...box, ok: 400, payload: { name: 'a b' } },
  'GET /api/snapshots': { ...read, ok: 200 },
  'GET /api/snapshots/:none': { ...read, ok: 404 },
  'DELETE /api/snapshots/:none': { ...write, ok: 404 },
  'POST /api/snapshots/:none/restore': { ...write, ok: 404, payload: {} },
  'GET /api/recordings': { ...read, ok: 200 },
  'GET /api/recordings/:none': { ...read, ok: 404 },
  'GET /api/recordings/:none/cast': { ...read, ok: 404 },
  'POST /api/recordings/:none/stop': { ...write, ok: 404 },
  'DELETE /api/recordings/:none': { ...write, ok: 404 },
  'GET /api/containers/:box/terminal': { ...write, ...box, shared: 426, ok: 426 },
  'GET /api/containers/:box/ssh': { ...write, ...box, ok: 426 },
  'GET /api/containers/:box/collaborations': { ...read, ...box, ok: 200 },
  'POST /api/containers/:box/collaborations': { ...write, ...box, ok: 201, payload: { mode: 'view' } },

  'POST /api/collaborations/join': { ...write, ok: 404, payload: { code: 'wrong' } },
  'GET /api/collaborations/:share': { ...read, ...box, shared: 200, ok: 200 },
  'DELETE /api/collaborations/:none': { ...write, ok: 404 },
  'DELETE /api/collaborations/:none/participants/:user_id': { ...write, ok: 404 },

  'GET /api/admin/settings': { ...admin, ok: 200 },
  'PATCH /api/admin/settings': { ...admin, ok: 200, payload: {} },
  'GET /api/admin/tiers': { ...admin, ok: 200 },
  'POST /api/admin/tiers': { ...admin, ok: 400 },
  'PATCH /api/admin/tiers/:none': { ...admin, ok: 404, payload: {} },
  'DELETE /api/admin/tiers/:none': { ...admin, ok: 404 },
  'GET /api/admin/images': { ...admin, ok: 200 },
  'POST /api/admin/images': { ...admin, ok: 400 },
  'PATCH /api/admin/images/:none': { ...admin, ok: 404, payload: {} },
  'DELETE /api/admin/images/:none': { ...admin, ok: 404 },
  'GET /api/admin/roles': { ...admin, ok: 200 },
  'POST /api/admin/roles': { ...admin, ok: 400 },
  'PATCH /api/admin/roles/:none': { ...admin, ok: 404, payload: {} },
  'DELETE /api/admin/roles/:none': { ...admin, ok: 404 },
  'GET /api/admin/audit': { ...admin, ok: 200 },
  'GET /api/admin/users': { ...admin, ok: 200 },
  'POST /api/admin/users': { ...admin, ok: 400 },
  'POST /api/admin/users/:none/reset-links': { ...admin, ok: 404, payload: { kind: 'password' } },
  'GET /api/admin/reset-links': { ...admin, ok: 200 },
  'DELETE /api/admin/reset-links/:none': { ...admin, ok: 404 },
  'GET /api/admin/invitations': { ...admin, ok: 200 },
  'POST /api/admin/invitations': { ...admin, ok: 400, payload: { tier: 'none' } },
  'DELETE /api/admin/invitations/:none': { ...admin, ok: 404 },
  'DELETE /api/admin/users/:none': { ...admin, ok: 404 },
  'PATCH /api/admin/users/:none': { ...admin, ok: 404, payload: {} },
  'GET /api/admin/health': { ...admin, ok: 200 },
  'GET /api/admin/health/history': { ...admin, ok: 200 },
  'GET /api/admin/announcements': { ...admin, ok: 200 },
  'POST /api/admin/announcements': { ...admin, ok: 400 },
  'PATCH /api/admin/announcements/:none': { ...admin, ok: 404, payload: {} },
  'DELETE /api/admin/announcements/:none': { ...admin, ok: 404 },
  'GET /api/admin/terminals': { ...admin, ok: 200 },
  'GET /api/admin/deleted-containers': { ...admin, ok: 200 },
  'GET /api/admin/capacity': { ...admin, ok: 200 },
  'GET /api/admin/usage': { ...admin, ok: 200 },
  'GET /api/admin/containers': { ...admin, ok: 200 },
  'POST /api/admin/containers/:none/stop': { ...admin, ok: 404 },
  'DELETE /api/admin/containers/:none': { ...admin, ok: 404 },
  'POST /api/admin/containers/:none/restore': { ...admin, ok: 404 },
  'POST /api/admin/containers/:none/transfer': { ...admin, ok: 404, payload: { to: NOBODY } },
  'DELETE /api/admin/terminals/:none': { ...admin, ok: 404 },
};

const OWN: ReadonlySet<Kind> = new Set(['owner', 'token read', 'token write', 'token admin']);

/** The rules of the scopes, unless a row differs. */
function expected({ scope, ok, foreign, shared, but }: Row, kind: Kind): number {
  const special = but?.[kind];
  if (special !== undefined) return special;
  if (scope === 'public') return ok;
  if (kind === 'nobody' || kind === 'waiting') return 401;
  if (scope === 'api_token') return kind.startsWith('token') ? ok : 401;
  if (kind === 'locked') return 423;
  if (scope === 'login' && kind.startsWith('token')) return 403;
  if (scope === 'write' && kind === 'token read') return 403;
  if (scope === 'admin' && kind !== 'administrator') return 403;
  if (kind === 'collaborator' && foreign !== undefined) return shared ?? 403;
  return OWN.has(kind) ? ok : (foreign ?? ok);
}

type Cast = Readonly<Record<Kind, Bearer | null>> & { readonly box: string; readonly share: string };

/** One of each kind. The token with scope admin belongs to a former administrator. */
async function aCast(service: InTime): Promise<Cast> {
  const administrator = await anAdmin(service);
  const owner = await aPerson(service, 'owner');
  const { users } = service.ports.storage.repositories;
  await users.change(owner.id, { role: 'admin' });
  const tokens = await Promise.all(
    (['read', 'write', 'admin'] as const).map((scope) => anApiToken(service, owner, { scopes: [scope] })),
  );
  await users.change(owner.id, { role: 'user' });
  service.clock.advance(2_000);
  const made = await as(service, owner)('POST', '/api/containers', { name: 'dev' });
  const collaborator = await aPerson(service, 'collaborator');
  const collaborations = `/api/containers/${made.json().db_id}/collaborations`;
  const share = (await as(service, owner)('POST', collaborations, { mode: 'control' })).json();
  await as(service, collaborator)('POST', '/api/collaborations/join', { code: share.code });
  const locked = await aPerson(service, 'locked');
  await as(service, locked)('PUT', '/api/me/lock', { passcode: '1234' });
  await as(service, locked)('POST', '/api/sessions/lock');
  await withMfa(service, 'waiting');
  const { mfa_token } = (await logIn(service, 'waiting')).json();
  const guest = await aGuest(service);
  return {
    nobody: null,
    other: await aPerson(service, 'other'),
    collaborator,
    owner,
    guest,
    'token read': tokens[0] ?? null,
    'token write': tokens[1] ?? null,
    'token admin': tokens[2] ?? null,
    administrator,
    locked,
    waiting: { token: mfa_token },
    box: made.json().db_id,
    share: share.id,
  };
}

const pattern = (route: string): string => route.replace(/:(box|share|none)/, ':id');

t.test('every route is in the table with its scope, and the table names no other', async (t) => {
  const { http } = await aServiceInTime();
  await http.ready();
  const declared = [...http.routeScopes].filter(([route]) => !route.startsWith('HEAD '));
  const listed = Object.entries(TABLE).map(([route, { scope }]) => [pattern(route), scope] as const);
  t.same(new Map(listed), new Map(declared));
  t.equal(listed.length, declared.length);
});

/** A fault in an answer's form; null for none. */
function faultOf({ statusCode, headers, body }: { statusCode: number; headers: object; body: string }) {
  if (statusCode < 400) return null;
  const { error, code } = JSON.parse(body);
  if (typeof error !== 'string' || typeof code !== 'string') return `no words: ${body.slice(0, 120)}`;
  const { 'www-authenticate': scheme = '' } = headers as Record<string, string>;
  return statusCode === 401 && !scheme.startsWith('Bearer') ? `names no scheme, but "${scheme}"` : null;
}

t.test('every route answers every kind of caller as the table says', async (t) => {
  const service = await aServiceInTime();
  const cast = await aCast(service);
  for (const [route, row] of Object.entries(TABLE)) {
    const [method, path = ''] = route.split(' ');
    const url = path
      .replace(':box', cast.box)
      .replace(':share', cast.share)
      .replace(':none', NOBODY)
      .replace(':process_id', NOBODY);
    const wanted: Partial<Record<Kind, unknown>> = {};
    const answered: typeof wanted = {};
    for (const kind of KINDS) {
      // A logout ends the session that the next rows need.
      if (route === 'POST /api/auth/logout' && expected(row, kind) === 200) continue;
      const answer = await as(service, cast[kind])(method as 'GET', url, row.payload, row.headers);
      wanted[kind] = expected(row, kind);
      answered[kind] = faultOf(answer) ?? answer.statusCode;
    }
    t.same(answered, wanted, route);
  }
});
