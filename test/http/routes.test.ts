import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { WebSocket } from 'ws';
import type { Http } from '../../src/adapters/http/fastify-types.ts';
import { httpServer } from '../../src/adapters/http/server.ts';
import { fixedClock, memoryPorts, noMetrics } from '../../src/adapters/memory/index.ts';
import { prometheusMetrics } from '../../src/adapters/prometheus/prometheus-metrics.ts';
import { concurrentUse } from '../../src/app/identity/limits/concurrent-use.ts';
import { addressSockets } from '../../src/app/identity/limits/sockets-by-address.ts';
import { keysFrom } from '../../src/app/main/keys/keys.ts';
import { aFolderOf } from '../support/folder.ts';
import { waitFor } from '../support/patience.ts';
import {
  anAdmin,
  anApiToken,
  aPerson,
  aService,
  as,
  type Bearer,
  ORIGIN,
  type ServiceOptions,
} from '../support/service/service.ts';
import { aContainerOf, fakeTerminals, listening, openTerminal } from '../support/terminal/terminals.ts';

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
        overHttps: false,
        auth: {
          localMetrics: true,
          allowedOrigins: new Set(),
          metrics: noMetrics(),
          isDraining: () => false,
          authenticator: {} as never,
          accessLimits: { requests: {} as never, concurrentUse: concurrentUse(), perAddress: async () => 0 },
        },
        sockets: { addressSockets: addressSockets(), socketsPerAddress: async () => 1 },
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

const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';

t.test('an upgrade on a route without a WebSocket is refused in HTTP, and its connection ends', async (t) => {
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

t.test('only the playback page may compile WebAssembly, and it runs no foreign script', async (t) => {
  const { http } = await aService({}, { webRoot: aFolderOf(t, { 'index.html': '<html></html>' }) });
  const scriptsOf = async (url: string): Promise<string | undefined> => {
    const { headers } = await http.inject({ url, headers: { accept: 'text/html' } });
    const policy = String(headers['content-security-policy']);
    return policy.split(';').find((part) => part.startsWith('script-src'));
  };
  for (const path of ['/', '/recordings', '/containers/x', '/settings', '/recordingsx/y', '/x/recordings/y'])
    t.equal(await scriptsOf(path), "script-src 'self'", path);
  const id = '99999999-9999-4999-8999-999999999999';
  t.equal(await scriptsOf(`/recordings/${id}`), "script-src 'self' 'wasm-unsafe-eval'");
});

t.test('browsers must insist on https only where users reach the service by it', async (t) => {
  const webRoot = aFolderOf(t, { 'index.html': '<html></html>' });
  for (const [secureCookie, expected] of [
    [false, undefined],
    [true, 'max-age=31536000'],
  ] as const) {
    const { http } = await aService({}, { webRoot, secureCookie });
    for (const url of ['/', '/docs']) {
      const { headers } = await http.inject({ url, headers: { accept: 'text/html' } });
      t.equal(headers['strict-transport-security'], expected, 'never for other services below the same name');
    }
  }
});

const secret = {
  status: 'degraded',
  reason: 'unusable',
  detail: 'private, 20.10.24',
  mend: 'update the engine',
} as const;
const readiness = async () => ({
  status: 'degraded' as const,
  parts: {
    database: secret,
    engine: secret,
    image: secret,
    disk: secret,
    isolation: secret,
    resources: secret,
  },
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
  const names = ['database', 'engine', 'image', 'disk', 'isolation', 'resources'];
  const parts = Object.fromEntries(names.map((name) => [name, part]));
  for (const who of [null, ada, weak, { token: 'nonsense' }, { token: `svc_${'0'.repeat(64)}` }])
    t.same(await ask(who), { status: 'degraded', parts });
});

t.test('a database that does not answer is reported to everybody', async (t) => {
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

t.test('a readiness check does not keep a session alive', async (t) => {
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

const aMeasured = (options: ServiceOptions = {}) => aService({ metrics: prometheusMetrics() }, options);
type Service = Awaited<ReturnType<typeof aMeasured>>;

const local = { host: '127.0.0.1:8080' };
const scrape = async (service: Service): Promise<string> =>
  (await as(service, null)('GET', '/metrics', undefined, local)).body;

/** The value of one line; null when there is none. */
async function sample(service: Service, line: string): Promise<number | null> {
  const found = (await scrape(service)).split('\n').find((each) => each.startsWith(`${line} `));
  return found === undefined ? null : Number(found.slice(line.length + 1));
}

t.test('requests are counted by route, never by address, and timed', async (t) => {
  const service = await aMeasured();
  const ada = await aPerson(service, 'ada');
  await as(service, ada)('GET', '/api/containers/99999999-9999-4999-8999-999999999999');
  await as(service, ada)('GET', '/api/containers/secret-name');
  await as(service, ada)('GET', '/no/such/page');
  const label = 'method="GET",route="/api/containers/:id"';
  t.equal(await sample(service, `berth_http_requests_total{${label},status="404"}`), 2);
  t.equal(await sample(service, `berth_http_request_duration_seconds_count{${label}}`), 2);
  t.equal(await sample(service, 'berth_http_requests_total{method="GET",route="unknown",status="404"}'), 1);
  t.notMatch(await scrape(service), /secret-name|such\/page|99999999-9999/);
});

t.test('an address without a page counts as unknown, beside those that have one', async (t) => {
  const service = await aMeasured({ webRoot: aFolderOf(t, { 'index.html': '<html></html>' }) });
  for (const url of ['/no/such/page', '/nor/this', '/index.html']) await as(service, null)('GET', url);
  const count = (route: string, status: number) =>
    sample(service, `berth_http_requests_total{method="GET",route="${route}",status="${status}"}`);
  t.same([await count('unknown', 404), await count('/*', 404), await count('/*', 200)], [2, null, 1]);
});

t.test('authentications are counted by credential and outcome', async (t) => {
  const service = await aMeasured();
  const root = await anAdmin(service);
  const reader = await anApiToken(service, root, { scopes: ['read'] });
  await as(service, reader)('GET', '/api/me');
  await as(service, reader)('GET', '/api/admin/users');
  await as(service, { token: `svc_${'0'.repeat(64)}` })('GET', '/api/me');
  await as(service, { token: 'x.y.z' })('GET', '/api/me');
  await as(service, null)('GET', '/api/me');
  const count = (credential: string, outcome: string) =>
    sample(service, `berth_authentications_total{credential="${credential}",outcome="${outcome}"}`);
  t.equal(await count('api_token', 'ok'), 1);
  t.equal(await count('api_token', 'insufficient_scope'), 1);
  t.equal(await count('api_token', 'api_token_rejected'), 1);
  t.equal(await count('login', 'unauthorized'), 1);
  t.equal(await count('none', 'unauthorized'), 1);
});

t.test('operations are counted by step, and calls of the engine by kind, with their outcomes', async (t) => {
  const service = await aMeasured();
  const ada = await aPerson(service, 'ada');
  const { db_id: id } = (await as(service, ada)('POST', '/api/containers', { name: 'dev' })).json();
  await as(service, ada)('POST', `/api/containers/${id}/stop`);
  const step = (kind: string, name: string) =>
    sample(service, `berth_operation_steps_total{kind="${kind}",step="${name}",outcome="ok"}`);
  t.same([await step('create', 'commit'), await step('stop', 'stop_old')], [1, 1]);
  const call = (kind: string, outcome: string) =>
    sample(service, `berth_engine_call_duration_seconds_count{kind="${kind}",outcome="${outcome}"}`);
  t.same([await call('runtime.create', 'ok'), await call('runtime.stop', 'ok')], [1, 1]);
});

t.test('terminals count their bytes both ways, and how many are open', async (t) => {
  const backend = fakeTerminals();
  const service = await aService({ metrics: prometheusMetrics(), terminalBackend: backend });
  const ada = await aPerson(service, 'ada');
  const id = await aContainerOf(service, ada);
  const bytes = (direction: string) =>
    sample(service, `berth_terminal_bytes_total{direction="${direction}"}`);
  t.same([await sample(service, 'berth_terminals_open'), await bytes('in')], [0, 0]);
  const { socket, output } = await openTerminal(await listening(t, service), id, ada);
  t.equal(await sample(service, 'berth_terminals_open'), 1);
  const [pty] = backend.opened;
  socket.send(Buffer.from('12345'));
  pty?.say('x'.repeat(1_000));
  await waitFor(() => pty?.typed() === '12345' && output().length >= 1_000);
  t.same([await bytes('in'), await bytes('out')], [5, 1_000]);
});

t.test('the lag of sent events is measured', async (t) => {
  const service = await aMeasured();
  const ada = await aPerson(service, 'ada');
  const address = await listening(t, service);
  const events = new WebSocket(`${address}/api/events`, ['berth.events.v1', `bearer.${ada.token}`], {
    origin: ORIGIN,
  });
  await once(events, 'open');
  const received = once(events, 'message');
  await aContainerOf(service, ada);
  await received;
  const sent = await sample(service, 'berth_event_lag_seconds_count');
  t.ok(sent !== null && sent > 0, `${sent}`);
});

t.test('the process itself is measured', async (t) => {
  const text = await scrape(await aMeasured());
  for (const name of [
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
    'berth_event_lag_seconds',
  ]) {
    t.match(text, new RegExp(`^# TYPE ${name} `, 'm'));
  }
});

t.test('only local programs and administrators read the metrics', async (t) => {
  const service = await aMeasured();
  const status = async (headers: Record<string, string>) =>
    (await as(service, null)('GET', '/metrics', undefined, { ...local, ...headers })).statusCode;
  t.equal(await status({}), 200);
  t.equal(await status({ host: 'localhost' }), 200);
  t.equal(await status({ host: '[::1]:8080' }), 200);
  const forwarded = [
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-real-ip',
    'forwarded',
    'via',
  ];
  for (const header of forwarded) t.equal(await status({ [header]: '127.0.0.1' }), 401, header);
  t.equal(await status({ host: 'berth.example.org' }), 401, 'somebody led a browser here, or a proxy did');
  t.equal(await status({ host: '127.0.0.1.example.org' }), 401);

  const port = Number(new URL(await listening(t, service)).port);
  const spoken = async (version: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    socket.end(`GET /metrics HTTP/${version}\r\nHost: ${local.host}\r\nConnection: close\r\n\r\n`);
    return (await text(socket)).slice(9, 12);
  };
  t.same([await spoken('1.1'), await spoken('1.0')], ['200', '401'], 'as a proxy that says nothing else');

  const remote = await service.http.inject({ url: '/metrics', remoteAddress: '192.0.2.1', headers: local });
  t.equal(remote.statusCode, 401);
  const behind = await aMeasured({ localMetrics: false });
  const plain = await as(behind, null)('GET', '/metrics', undefined, local);
  t.equal(plain.statusCode, 401, 'where there may be a proxy, nobody counts as local');
  const admin = await anAdmin(behind);
  t.equal((await as(behind, admin)('GET', '/metrics', undefined, local)).statusCode, 200);
});
