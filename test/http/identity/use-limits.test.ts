import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { memoryPorts, memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { waitFor } from '../../support/patience.ts';
import { aServiceInTime } from '../../support/service/factors.ts';
import {
  anAdmin,
  anApiToken,
  aPerson,
  aService,
  as,
  type Bearer,
  ORIGIN,
  type Person,
} from '../../support/service/service.ts';
import { aContainerOf, listening } from '../../support/terminal/terminals.ts';

const FULL = [429, 'too_many_at_once'];

/** Ada and Bob with a container each, in a tier that the test has made small. */
async function scene(t: Test, limits: object) {
  const real = memoryRuntime();
  const running: (() => void)[] = [];
  const runtime: typeof real = {
    ...real,
    exec: async (handle, request) => {
      if (request.command[0] === 'wait') await new Promise<void>((resolve) => running.push(resolve));
      return await real.exec(handle, { ...request, command: ['true'] });
    },
  };
  const ports = memoryPorts();
  const service = await aService({ storage: ports.storage, clock: ports.clock, runtime });
  const address = await listening(t, service);
  const root = as(service, await anAdmin(service));
  const changed = await root('PATCH', '/api/admin/tiers/free', limits);
  t.equal(changed.statusCode, 200, changed.body);
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  const boxes = { ada: await aContainerOf(service, ada), bob: await aContainerOf(service, bob) };
  return { service, address, root, ada, bob, boxes, running };
}

/** Status and code of a refused upgrade; the socket where it was let in. */
async function opened(url: string, protocol: string, { token }: Bearer): Promise<WebSocket | unknown[]> {
  const socket = new WebSocket(url, [protocol, `bearer.${token}`], { origin: ORIGIN });
  return await new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.once('open', () => resolve(socket));
    socket.once('unexpected-response', (request, response) => {
      let body = '';
      response.on('data', (data) => {
        body += data;
      });
      response.on('end', () => {
        resolve([response.statusCode, JSON.parse(body).code, response.headers['retry-after']]);
        request.destroy();
      });
    });
  });
}

for (const [kind, limit, urlOf, protocol] of [
  [
    'terminals',
    'max_terminals',
    (box: string, n: number) => `/api/containers/${box}/terminal?connection_id=p${n}`,
    'berth.terminal.v1',
  ],
  ['event sockets', 'max_event_sockets', () => '/api/events', 'berth.events.v1'],
] as const) {
  t.test(
    `${kind} of one user are counted over its credentials, and refused before the upgrade`,
    async (t) => {
      const { service, address, ada, bob, boxes } = await scene(t, { [limit]: 2 });
      const open = (who: Bearer, box: string, n: number) =>
        opened(`${address}${urlOf(box, n)}`, protocol, who);
      const first = await open(ada, boxes.ada, 1);
      t.type(await open(await anApiToken(service, ada), boxes.ada, 2), WebSocket);
      t.same(await open(ada, boxes.ada, 3), [...FULL, '5']);
      t.type(await open(bob, boxes.bob, 1), WebSocket, 'another user is not concerned');
      (first as WebSocket).close();
      await waitFor(async () => (await open(ada, boxes.ada, 1)) instanceof WebSocket);
    },
  );
}

t.test('a command counts until it has ended, also when its client has left', async (t) => {
  const { service, address, ada, bob, boxes, running } = await scene(t, { max_commands: 2 });
  const run = async (who: Person, box: string, ...command: string[]) =>
    await as(service, who)('POST', `/api/containers/${box}/exec`, { command });
  const waiting = run(ada, boxes.ada, 'wait');
  const leaving = new AbortController();
  const left = fetch(`${address.replace('ws', 'http')}/api/containers/${boxes.ada}/exec`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ command: ['wait'] }),
  });
  await waitFor(() => running.length === 2);
  leaving.abort();
  await t.rejects(left);
  const full = await run(ada, boxes.ada, 'true');
  t.same([full.statusCode, full.json().code, full.headers['retry-after']], [...FULL, '5']);
  t.equal((await run(bob, boxes.bob, 'true')).statusCode, 200);
  t.equal(
    (await as(service, ada)('GET', '/api/containers')).statusCode,
    200,
    'other requests are no commands',
  );
  for (const end of running) end();
  t.equal((await waiting).statusCode, 200);
  await waitFor(async () => (await run(ada, boxes.ada, 'true')).statusCode === 200);
  for (let n = 0; n < 4; n += 1)
    t.equal((await run(ada, boxes.ada, 'true')).statusCode, 200, 'all was given back');
});

t.test('uploads and downloads have a limit of their own, and a refused one is no use', async (t) => {
  const { service, ada, boxes } = await scene(t, { max_uploads: 0, max_downloads: 1 });
  const call = as(service, ada);
  const files = `/api/containers/${boxes.ada}/files`;
  const upload = await call('PUT', `${files}?path=a`, {});
  t.same([upload.statusCode, upload.json().code], FULL);
  for (let n = 0; n < 3; n += 1) {
    for (const url of [`${files}?path=.`, `/api/containers/${boxes.ada}/logs`, '/api/audit']) {
      t.not((await call('GET', url)).statusCode, 429, url);
    }
    t.equal((await call('GET', '/api/containers/none/files?path=a')).statusCode, 404);
  }
});

t.test('a user has a limit of requests over all credentials, and is shown it', async (t) => {
  const { service, root, ada, bob } = await scene(t, { requests_per_minute: 20 });
  const me = await as(service, ada)('GET', '/api/me');
  t.match(me.json().limits, {
    requests_per_minute: 20,
    max_terminals: 64,
    max_commands: 32,
    max_downloads: 32,
  });
  t.equal(me.headers['ratelimit-policy'], '20;w=60');
  const tokens = [];
  for (let n = 0; n < 4; n += 1) tokens.push(await anApiToken(service, ada));
  const statuses: number[] = [];
  for (let n = 0; n < 40; n += 1) {
    const [who = ada] = tokens.slice(n % 4);
    statuses.push((await as(service, who)('GET', '/api/containers')).statusCode);
  }
  t.equal(statuses.indexOf(429), 20 - 1 - 4 - 1, 'what Ada did before counts as well');
  t.notOk(statuses.slice(statuses.indexOf(429)).includes(200));
  t.equal((await as(service, bob)('GET', '/api/me')).statusCode, 200);
  await root('PATCH', '/api/admin/settings', { requests_per_minute: 0 });
  service.clock.advance(1_001);
  const free = await as(service, ada)('GET', '/api/me');
  t.same([free.statusCode, free.json().limits.requests_per_minute], [200, 0], 'no setting, no limit');
  t.equal(free.headers['ratelimit-policy'], undefined);
});

t.test('a credential with many requests is told to come back, and another is not', async (t) => {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const root = as(service, await anAdmin(service));
  const use = as(service, await anApiToken(service, ada));
  t.equal((await root('PATCH', '/api/admin/settings', { requests_per_minute: 5 })).statusCode, 200);
  for (let n = 0; n < 5; n += 1) t.equal((await use('GET', '/api/me')).statusCode, 200);
  const refused = await use('GET', '/api/me');
  const tooMany = { error: 'too many requests', code: 'rate_limited' };
  t.same([refused.statusCode, refused.json()], [429, tooMany]);
  const seconds = Number(refused.headers['retry-after']);
  t.ok(seconds > 0 && seconds <= 120);
  t.equal((await as(service, ada)('GET', '/api/me')).statusCode, 200, 'a session has its own count');
  service.clock.advance(seconds * 1000);
  t.equal((await use('GET', '/api/me')).statusCode, 200);
});

t.test('those who have no credential yet are counted by address', async (t) => {
  const service = await aService();
  await service.ports.storage.repositories.settings.change({ requestsPerMinute: 3 });
  const login = (remoteAddress: string) =>
    service.http.inject({ method: 'POST', url: '/api/auth/login', payload: {}, remoteAddress });
  for (let n = 0; n < 3; n += 1) t.equal((await login('192.0.2.1')).statusCode, 400);
  t.equal((await login('192.0.2.1')).statusCode, 429);
  t.equal((await login('192.0.2.2')).statusCode, 400);
  t.equal((await service.http.inject({ url: '/livez', remoteAddress: '192.0.2.1' })).statusCode, 200);
});

t.test('a guest has less', async (t) => {
  const service = await aService();
  const { tiers } = (await as(service, await aPerson(service, 'ada'))('GET', '/api/tiers')).json();
  const [guest, free] = ['guest', 'free'].map((name) =>
    tiers.find((one: { name: string }) => one.name === name),
  );
  for (const key of Object.keys(free).filter((one) => /^(requests|max)_/.test(one))) {
    t.ok(guest[key] < free[key], key);
  }
});
