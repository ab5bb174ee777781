/** The answer to `GET /api/tokens/validate`, as the service gives it for the bench's token. */
export const TOKEN_BODY = {
  valid: true,
  scopes: ['read', 'write'],
  containers: null,
  uses_left: null,
  user: {
    id: '11111111-1111-4111-8111-111111111111',
    username: 'root',
    email: 'root@example.org',
    tier: 'enterprise',
    role: 'admin',
  },
};
