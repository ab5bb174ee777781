import t from 'tap';
import type { Container } from '../../web/src/api/types.ts';
import { signedIn } from '../../web/src/session/session.ts';
import { loadCredentials } from '../../web/src/views/settings/sign-ins/load-credentials.ts';

const created_at = '2026-01-01T00:00:00Z';
const ANSWERS: Record<string, object> = {
  '/api/me/passkeys': { passkeys: [{ id: 'p', name: 'laptop', created_at, last_used_at: null }] },
  '/api/me/ssh-keys': { ssh_keys: [] },
  '/api/containers?shared=false&sort=-last_used_at&limit=200': {
    total: 604,
    containers: [
      ...['own', 'gone', 'busy'].map((db_id) => ({ db_id, name: db_id })),
      { id: 'agent:laptop', db_id: 'laptop', name: 'laptop' },
    ] as Container[],
  },
  '/api/containers/laptop/collaborations': {
    collaborations: [{ id: 'l', mode: 'control', created_at }],
  },
  '/api/containers/own/collaborations': { collaborations: [{ id: 's', mode: 'view', created_at }] },
};

t.test(
  'what signs in as its user is listed as far as it can be read, and what is missing is named',
  async (t) => {
    t.intercept(globalThis, 'fetch', {
      value: async (url: string) => {
        const body =
          ANSWERS[
            new URL(url, 'http://berth.example').pathname + new URL(url, 'http://berth.example').search
          ];
        const status = body !== undefined ? 200 : url.includes('/gone/') ? 404 : 403;
        return Response.json(body ?? { error: 'not authorized', code: 'not_authorized' }, { status });
      },
    });
    signedIn({ token: 'x', user: { id: 'u', username: 'ada' } } as Parameters<typeof signedIn>[0]);
    const { credentials, missing, skipped } = await loadCredentials();
    t.same(
      credentials.map(({ name }) => name),
      ['laptop', 'own, to view', 'laptop, to type in'],
    );
    t.same(missing, ['Connected sign-in', 'API token', 'Share link']);
    t.equal(skipped, 600, 'links of what is beyond the first page are not asked for');
  },
);
