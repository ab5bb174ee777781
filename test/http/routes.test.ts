import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import type { Http } from '../../src/adapters/http/fastify-types.ts';
import { httpServer } from '../../src/adapters/http/server.ts';
import { fixedClock, memoryPorts, noMetrics } from '../../src/adapters/memory/index.ts';
import { concurrentUse } from '../../src/app/identity/limits/concurrent-use.ts';
import { addressSockets } from '../../src/app/identity/limits/sockets-by-address.ts';
import { keysFrom } from '../../src/app/main/keys/keys.ts';
import { aFolderOf } from '../support/folder.ts';
import { anAdmin, anApiToken, aPerson, aService, as, type Bearer } from '../support/service/service.ts';

t.test('a route that declares no scope stops the start', async (t) => {
  const { http } = await aService();
  const start = (register: (http: Http) => void) =>
    httpServer(
      {
        logger: http.log,
        signingKeys: keysFrom(Buffer.alloc(48, 7)).live,
        version: '0',
        trustProxy: [],
        openFiles: null,
        localMetrics: true,
        allowedOrigins: new Set(),
        metrics: noMetrics(),
        isDraining: () => false,
        authenticator: {} as never,
        lasting: concurrentUse(),
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

t.test('the description names every route', async (t) => {
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

const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';

t.test('an upgrade to no WebSocket is refused as plain HTTP, and its connection ends', async (t) => {
  const webRoot = aFolderOf(t, { 'index.html': '<html></html>', 'assets/a.js': '1' });
  const service = await aService({}, { webRoot });
  const { token } = await aPerson(service, 'ada');
  const { http } = service;
  await http.listen({ port: 0, host: '127.0.0.1' });
  t.teardown(async () => {
    http.server.closeAllConnections();
    await http.close();
  });
  const { port } = http.addresses()[0] as AddressInfo;
  const upgrade = async (
    line: string,
    { credential = '', version = '13', protocol = 'websocket' } = {},
  ): Promise<number> => {
    const socket = connect({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    const authorization = credential === '' ? [] : [`Authorization: Bearer ${credential}`];
    const lines = [line, 'Host: x', 'Connection: Upgrade', `Upgrade: ${protocol}`, KEY, ...authorization];
    socket.write(`${[...lines, `Sec-WebSocket-Version: ${version}`].join('\r\n')}\r\n\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    const status = Number(/^HTTP\/1.1 (\d+)/.exec(String(head))?.[1]);
    if (status === 101) socket.destroy();
    else await text(socket);
    return status;
  };
  const signedIn = { credential: token };
  const get = (path: string, given = {}) => upgrade(`GET ${path} HTTP/1.1`, given);
  for (const path of ['/', '/nope', '/assets/a.js', '/livez', '/api/nope'])
    t.equal(await get(path), 404, path);
  t.equal(await upgrade('POST /api/auth/login HTTP/1.1'), 404, 'not even with another method');
  t.equal(await get('/', { protocol: 'h2c' }), 404, 'nor to another protocol');
  for (const path of ['/api/me', '/api/events']) t.equal(await get(path), 401, path);
  t.equal(await get('/api/me', signedIn), 404, 'with a credential');
  t.equal(await upgrade('GET /api/events HTTP/1.0', signedIn), 426, 'HTTP/1.0');
  for (const version of ['8', '14', ''])
    t.equal(await get('/api/events', { ...signedIn, version }), 426, `version ${version}`);
  t.equal(await new Promise((resolve) => http.server.getConnections((_, count) => resolve(count))), 0);
  t.equal(await get('/api/events', signedIn), 101, 'the usual one is let in');
});

const secret = { status: 'degraded', detail: 'private, 20.10.24', mend: 'update the engine' } as const;
const readiness = async () => ({
  status: 'degraded' as const,
  parts: { database: secret, engine: secret, image: secret, disk: secret, isolation: secret },
});

t.test('anybody reads which parts are ready, administrators read why', async (t) => {
  const service = await aService({}, { readiness });
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  const strong = await anApiToken(service, root, { scopes: ['admin'] });
  const weak = await anApiToken(service, root, { scopes: ['read'] });
  const ask = async (who: Bearer | null): Promise<unknown> => {
    const answer = await as(service, who)('GET', '/readyz');
    t.equal(answer.statusCode, 200);
    return answer.json();
  };
  for (const who of [root, strong]) t.same(await ask(who), await readiness());
  const part = { status: 'degraded' };
  const parts = { database: part, engine: part, image: part, disk: part, isolation: part };
  for (const who of [null, ada, weak, { token: 'nonsense' }, { token: `svc_${'0'.repeat(64)}` }])
    t.same(await ask(who), { status: 'degraded', parts });
});

t.test('a database that does not answer is said to everybody, with a credential as without', async (t) => {
  const ports = memoryPorts(fixedClock());
  const broken = async () => ({ ...(await readiness()), status: 'unready' as const });
  const service = await aService(ports, { readiness: broken });
  ports.storage.repositories.tokens.findWithUser = () => Promise.reject(new Error('no database'));
  for (const who of [null, { token: `svc_${'0'.repeat(64)}` }]) {
    const answer = await as(service, who)('GET', '/readyz');
    t.match([answer.statusCode, answer.json()], [503, { status: 'unready' }]);
    t.notMatch(answer.body, 'private');
  }
});

t.test('a page that asks how things are keeps no session open', async (t) => {
  const service = await aService({}, { readiness });
  const root = await anAdmin(service);
  const { sessions } = service.ports.storage.repositories;
  const touched: unknown[] = [];
  const touch = sessions.touch.bind(sessions);
  sessions.touch = async (uses) => {
    touched.push(...uses);
    await touch(uses);
  };
  await as(service, root)('GET', '/readyz');
  await service.writeDue();
  t.same(touched, []);
});
