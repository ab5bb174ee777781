import type { Cluster } from './cluster.ts';
import { as } from './service.ts';
import { refresh, sessionIdOf } from './sign-ins.ts';

/** What ends the credential of `ada` or `token`, done at one process. */
export const ENDS: readonly (readonly [string, 'ada' | 'token', (cluster: Cluster) => Promise<unknown>])[] = [
  [
    'the session is revoked',
    'ada',
    async ({ here, ada, other }) =>
      as(here, other)('DELETE', `/api/sessions/${await sessionIdOf(here, ada)}`),
  ],
  [
    'it revokes itself',
    'ada',
    async ({ here, ada }) => as(here, ada)('DELETE', `/api/sessions/${await sessionIdOf(here, ada)}`),
  ],
  [
    'the others are revoked',
    'ada',
    ({ here, other }) => as(here, other)('POST', '/api/sessions/revoke-others'),
  ],
  ['its user signs out', 'ada', ({ here, ada }) => as(here, ada)('POST', '/api/auth/logout')],
  [
    'its refresh token comes back from a thief',
    'ada',
    async ({ here, ada }) => {
      await refresh(here, ada, 'browser');
      return await refresh(here, ada, 'thief');
    },
  ],
  [
    'the token is revoked',
    'token',
    ({ here, other, tokenId }) => as(here, other)('POST', `/api/tokens/${tokenId}/revoke`),
  ],
  [
    'the token is deleted',
    'token',
    ({ here, other, tokenId }) => as(here, other)('DELETE', `/api/tokens/${tokenId}`),
  ],
];
