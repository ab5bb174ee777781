import t from 'tap';
import { authorize, type Caller, isAdmin } from '../../src/domain/caller.ts';
import type { RouteScope, Scope } from '../../src/domain/scope.ts';
import { aCaller, aUser } from '../support/builders.ts';

const login = (role: 'user' | 'admin'): Caller => aCaller({ user: aUser({ role }) });
const token = (role: 'user' | 'admin', ...scopes: Scope[]): Caller =>
  aCaller({
    user: aUser({ role }),
    credential: { kind: 'api_token', tokenId: 'x', prefix: 'svc_0', scopes },
  });

const callers = {
  user: login('user'),
  admin: login('admin'),
  'token read': token('user', 'read'),
  'token write': token('user', 'write'),
  "user's token admin": token('user', 'admin'),
  "admin's token write": token('admin', 'write'),
  "admin's token admin": token('admin', 'admin'),
} as const;

const table: { readonly [S in RouteScope]: readonly (string | true)[] } = {
  public: [true, true, true, true, true, true, true],
  read: [true, true, true, true, true, true, true],
  write: [true, true, 'insufficient_scope', true, true, true, true],
  admin: [
    'not_authorized',
    true,
    'insufficient_scope',
    'insufficient_scope',
    'not_authorized',
    'insufficient_scope',
    true,
  ],
  login: [
    true,
    true,
    'login_token_required',
    'login_token_required',
    'login_token_required',
    'login_token_required',
    'login_token_required',
  ],
  api_token: ['api_token_rejected', 'api_token_rejected', true, true, true, true, true],
};

for (const [scope, row] of Object.entries(table) as [RouteScope, (string | true)[]][]) {
  t.test(`scope ${scope}`, async (t) => {
    Object.entries(callers).forEach(([name, caller], column) => {
      const result = authorize(caller, scope);
      t.equal(result.ok || result.error.code, row[column], name);
    });
  });
}

t.test('an administrator is one by role, and by scope where the credential has scopes', async (t) => {
  const admins = Object.entries(callers).filter(([, caller]) => isAdmin(caller));
  t.same(
    admins.map(([name]) => name),
    ['admin', "admin's token admin"],
  );
});
