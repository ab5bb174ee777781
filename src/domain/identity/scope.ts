/** What an API token allows. A login token allows all that its user may do. */
export type Scope = 'read' | 'write' | 'admin';

/** What a route requires. `login` and `api_token` accept only that kind of credential. */
export type RouteScope = 'public' | 'login' | 'api_token' | Scope;

const GRANTS: { readonly [S in Scope]: readonly Scope[] } = {
  read: ['read'],
  write: ['read', 'write'],
  admin: ['read', 'write', 'admin'],
};

/** Whether the scopes include `wanted`: write includes read, admin includes both. */
export const grants = (granted: readonly Scope[], wanted: Scope): boolean =>
  granted.some((scope) => GRANTS[scope].includes(wanted));
