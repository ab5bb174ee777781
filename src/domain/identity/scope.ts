/** What an API token may be used for. A login token of an active session holds all that its user may do. */
export type Scope = 'read' | 'write' | 'admin';

/** What a route asks for. `login` and `api_token` name the only kind of credential that opens it. */
export type RouteScope = 'public' | 'login' | 'api_token' | Scope;

const GRANTS: { readonly [S in Scope]: readonly Scope[] } = {
  read: ['read'],
  write: ['read', 'write'],
  admin: ['read', 'write', 'admin'],
};

/** Whether one of `held` grants `wanted`: write includes read, admin includes both. */
export const grants = (held: readonly Scope[], wanted: Scope): boolean =>
  held.some((scope) => GRANTS[scope].includes(wanted));
