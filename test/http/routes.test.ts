import t from 'tap';
import { httpServer } from '../../src/adapters/http/server.ts';
import type { Http } from '../../src/adapters/http/types.ts';
import { noMetrics } from '../../src/adapters/memory/index.ts';
import { addressSockets } from '../../src/app/address-sockets.ts';
import { lastingUses } from '../../src/app/lasting-use.ts';
import { keysFrom } from '../../src/app/main/keys.ts';
import { aService, as } from '../support/service.ts';

t.test('a route that declares no scope stops the start', async (t) => {
  const service = await aService();
  const { logger } = { logger: service.http.log } as { logger: never };
  const start = (register: (http: Http) => void) =>
    httpServer(
      {
        logger,
        signingKeys: keysFrom(Buffer.alloc(48, 7)).live,
        version: '0',
        trustProxy: [],
        openFiles: null,
        localMetrics: true,
        allowedOrigins: new Set(),
        metrics: noMetrics(),
        isDraining: () => false,
        authenticator: {} as never,
        lasting: lastingUses(),
        limits: {} as never,
        requestsPerMinute: async () => 0,
        addressSockets: addressSockets(),
        socketsPerAddress: async () => 1,
      },
      [register],
    );
  await t.rejects(
    start((http) => void http.get('/x', async () => ({}))),
    { message: 'route GET /x declares no scope' },
  );
  await t.rejects(
    start((http) => void http.get('/y', { config: { failure: 'x' } }, async () => ({}))),
    { message: /declares no scope/ },
  );
  const good = await start(
    (http) => void http.get('/z', { config: { scope: 'public' } }, async () => ({ ok: true })),
  );
  t.same((await good.inject('/z')).json(), { ok: true });
});

t.test('the description names every route, and each says what it answers', async (t) => {
  const service = await aService();
  const { paths } = (await as(service, null)('GET', '/api/openapi.json')).json();
  for (const route of [
    '/api/sessions',
    '/api/sessions/{id}',
    '/api/audit',
    '/api/admin/users/{id}',
    '/api/me/ssh-keys',
  ]) {
    t.ok(paths[route], route);
  }
});
