import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { onArrival } from '../../src/adapters/http/arrival.ts';
import { connectionBudget, limitConnections } from '../../src/adapters/http/connections/connections.ts';
import { workOneAtATime } from '../../src/adapters/http/connections/one-request-at-a-time.ts';
import { limitUnreadAnswers } from '../../src/adapters/http/connections/unread-replies.ts';
import { onError } from '../../src/adapters/http/errors.ts';
import type { Http } from '../../src/adapters/http/fastify-types.ts';
import { waitFor } from '../support/patience.ts';
import { anAdmin, aPerson, aService, as, type Person } from '../support/service/service.ts';
import { aContainerOf, listening, opened } from '../support/terminal/terminals.ts';
import { valuesOf } from '../support/values.ts';

/** A server of `budget` with a fast route and one that answers on request. */
async function aServer(t: Test, budget: number) {
  const http = Fastify() as unknown as Http;
  http.setErrorHandler(onError);
  onArrival(http, [limitConnections(http, budget)]);
  const going: (() => void)[] = [];
  http.get('/quick', async () => ({ ok: true }));
  http.get('/slow', () => new Promise((resolve) => going.push(() => resolve({ ok: true }))));
  await http.listen({ port: 0, host: '127.0.0.1' });
  const { port } = http.addresses()[0] as AddressInfo;
  const sockets: Socket[] = [];
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    http.server.closeAllConnections();
    await http.close();
  });
  const dial = async (localAddress = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    sockets.push(socket);
    socket.on('error', () => {}).resume();
    await once(socket, 'connect');
    return socket;
  };
  const get = async (path: string, agent: Agent | false = false) => {
    const request = httpRequest({ port, host: '127.0.0.1', path, agent });
    request.end();
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    const body = (await json(answer)) as Record<string, unknown>;
    return { status: answer.statusCode, body, retryAfter: answer.headers['retry-after'] };
  };
  return { http, going, dial, get, open: () => sockets.filter(({ closed }) => !closed).length };
}

t.test('the open file limit keeps a reserve, of a small limit a share', async (t) => {
  t.same([64, 256, 1024, 20_000].map(connectionBudget), [38, 156, 924, 19_900]);
});

t.test('silent connections make room for those with requests', async (t) => {
  const { dial, get, open } = await aServer(t, 10);
  for (let n = 0; n < 40; n += 1) {
    await dial();
    if (n % 8 === 7) t.match(await get('/quick'), { status: 200 }, `beside ${n + 1} silent ones`);
  }
  await waitFor(() => open() <= 10, { what: () => `${open()} are left` });
});

t.test('silent connections make room for one that sends its request later', async (t) => {
  const { dial, open } = await aServer(t, 10);
  for (let n = 0; n < 30; n += 1) await dial();
  // From another address, with fewer of them.
  const late = await dial('127.0.0.2');
  for (let n = 0; n < 30; n += 1) await dial();
  await waitFor(() => open() <= 10);
  const heard = once(late, 'data');
  late.write('GET /quick HTTP/1.1\r\nHost: x\r\n\r\n');
  t.match(String(await heard), /^HTTP\/1.1 200/);
});

t.test('an address that has a request makes no room for itself alone', async (t) => {
  const { going, dial, open } = await aServer(t, 5);
  const working = await dial();
  working.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await waitFor(() => going.length === 1);
  for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4']) await dial(address);
  const second = await dial();
  await waitFor(() => open() === 4, { what: () => `${open()} are left` });
  t.notOk(working.closed || second.closed, 'an idle one of another address does');
  for (const end of going) end();
});

t.test('a keep-alive connection outlives those that never sent a request', async (t) => {
  const { dial, get } = await aServer(t, 10);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  await get('/quick', agent);
  const [kept] = Object.values(agent.freeSockets).flat();
  for (let n = 0; n < 40; n += 1) await dial();
  t.match(await get('/quick', agent), { status: 200 });
  t.equal(Object.values(agent.freeSockets).flat()[0], kept, 'the same connection');
});

t.test('of connections between requests, the one without any for longest makes room', async (t) => {
  const { going, dial, open } = await aServer(t, 10);
  const request = async (socket: Socket): Promise<void> => {
    const heard = once(socket, 'data');
    socket.write('GET /quick HTTP/1.1\r\nHost: x\r\n\r\n');
    await heard;
  };
  const working = await dial();
  working.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await waitFor(() => going.length === 1);
  const [first, second] = [await dial(), await dial()];
  for (const socket of [first, second, first]) await request(socket);
  for (let n = 0; n < 6; n += 1) await request(await dial());
  await waitFor(() => second.closed, { what: 'it makes room' });
  t.equal(open(), 8, 'no other one did');
  const heard = once(working, 'data');
  for (const end of going) end();
  t.match(String(await heard), /^HTTP\/1.1 200/);
});

t.test('when all connections are busy, another one gets 503 until one ends', async (t) => {
  const { going, get } = await aServer(t, 10);
  const slow = Array.from({ length: 5 }, () => get('/slow'));
  for (const each of slow) each.catch(() => {});
  await waitFor(() => going.length === 5);
  t.match(await get('/quick'), { status: 503, body: { code: 'service_overloaded' }, retryAfter: '2' });
  going.pop()?.();
  await Promise.race(slow);
  t.match(await get('/quick'), { status: 200 });
  for (const end of going) end();
  t.same(
    valuesOf(await Promise.all(slow), 'status'),
    [200, 200, 200, 200, 200],
    'those under way were left alone',
  );
});

const FULL = [429, 'address_full', '30'];

/** Ada and Bob, each with a container, behind a proxy, where an address may have three sockets. */
async function behindAProxy(t: Test) {
  const service = await aService({}, { trustProxy: ['127.0.0.1'] });
  const address = await listening(t, service);
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  const boxes = new Map([
    [ada, await aContainerOf(service, ada)],
    [bob, await aContainerOf(service, bob)],
  ]);
  await service.ports.storage.repositories.settings.change({ socketsPerAddress: 3 });
  const open = (url: string, protocol: string, { token }: Person, from: string) =>
    opened(`${address}${url}`, [protocol, `bearer.${token}`], { 'x-forwarded-for': from });
  return {
    ada,
    bob,
    events: (who: Person, from: string) => open('/api/events', 'berth.events.v1', who, from),
    terminal: (who: Person, from: string) =>
      open(`/api/containers/${boxes.get(who)}/terminal`, 'berth.terminal.v1', who, from),
    plain: async ({ token }: Person, from: string) => {
      const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': from };
      const url = `/api/containers/${boxes.get(ada)}/terminal`;
      const answer = await service.http.inject({ method: 'GET', url, headers });
      return [answer.statusCode, answer.json().code, answer.headers['retry-after']];
    },
  };
}

t.test("sockets of all users behind one address count, by the proxy's header", async (t) => {
  const { ada, bob, events, terminal } = await behindAProxy(t);
  const first = await events(ada, '192.0.2.1');
  t.type(await terminal(ada, '192.0.2.1'), WebSocket);
  t.type(await events(bob, '192.0.2.1'), WebSocket);
  t.same(await events(ada, '192.0.2.1'), FULL);
  t.same(await terminal(bob, '192.0.2.1'), FULL, 'terminals and events count alike');
  t.type(await events(ada, '192.0.2.2'), WebSocket, 'another address is not concerned');
  (first as WebSocket).close();
  await waitFor(async () => (await events(bob, '192.0.2.1')) instanceof WebSocket);
});

t.test('a plain request tells the refusal that browsers hide, and takes no room', async (t) => {
  const { ada, events, plain } = await behindAProxy(t);
  for (let n = 0; n < 4; n += 1) t.match(await plain(ada, '192.0.2.1'), [426, 'upgrade_required']);
  for (let n = 0; n < 3; n += 1) t.type(await events(ada, '192.0.2.1'), WebSocket);
  t.same(await plain(ada, '192.0.2.1'), FULL);
  t.match(await plain(ada, '192.0.2.2'), [426]);
});

t.test('an IPv6 /64 is one address', async (t) => {
  const { ada, events } = await behindAProxy(t);
  for (const last of ['1', '2:3', 'ffff']) t.type(await events(ada, `2001:db8:0:1::${last}`), WebSocket);
  t.same(await events(ada, '2001:db8:0:1:a:b:c:d'), FULL);
  t.type(await events(ada, '2001:db8:0:2::1'), WebSocket);
});

t.test('a socket refused for another reason counts for no address', async (t) => {
  const { ada, events } = await behindAProxy(t);
  const nobody = { ...ada, token: 'nonsense' };
  for (let n = 0; n < 5; n += 1) t.match(await events(nobody, '192.0.2.1'), [401]);
  t.type(await events(ada, '192.0.2.1'), WebSocket);
});

t.test('administrators set the limit, never so low that an office is locked out', async (t) => {
  const service = await aService();
  const root = as(service, await anAdmin(service));
  const url = '/api/admin/settings';
  t.equal((await root('GET', url)).json().sockets_per_address, 1000);
  for (const wrong of [0, 249, 1_000_001]) {
    t.equal((await root('PATCH', url, { sockets_per_address: wrong })).statusCode, 400, `${wrong}`);
  }
  t.equal((await root('PATCH', url, { sockets_per_address: 250 })).json().sockets_per_address, 250);
});

const MIB = 1_048_576;
const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** A connection to the server that reads nothing until resumed, and its other end. */
async function aConnection(t: Test, http: Pick<Http, 'addresses' | 'server'>) {
  const { port } = http.addresses()[0] as AddressInfo;
  const accepted = new Promise<Socket>((resolve) => http.server.once('connection', resolve));
  const socket = connect({ port, host: '127.0.0.1' });
  t.teardown(() => socket.destroy());
  socket.on('error', () => {}).pause();
  return { socket, accepted: await accepted };
}

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(65_536);
}

async function anHttpServer(
  t: Test,
  limits: Parameters<typeof limitUnreadAnswers>[1] = {},
  maxPipelined = 8,
) {
  const http = Fastify() as unknown as Http;
  workOneAtATime(http, maxPipelined);
  limitUnreadAnswers(http, { sweepMs: 10, ...limits });
  const slow: (() => void)[] = [];
  http.get('/large', async () => 'x'.repeat(32 * MIB));
  http.get('/endless', (_request, reply) => reply.send(Readable.from(endless(), { objectMode: false })));
  http.get('/quiet', (_request, reply) => {
    const quiet = new Readable({ read() {} });
    quiet.push('begun');
    slow.push(() => quiet.push('done'));
    return reply.send(quiet);
  });
  http.get('/small', async () => 'small');
  http.get('/slow', () => new Promise((resolve) => slow.push(() => resolve('slow'))));
  await http.listen({ port: 0, host: '127.0.0.1' });
  t.teardown(async () => {
    http.server.closeAllConnections();
    await http.close();
  });
  return { http, slow, ...(await aConnection(t, http)) };
}

t.test('pipelined requests are answered one after the other', async (t) => {
  const { socket, slow } = await anHttpServer(t, {}, 4);
  socket.write(ask('/slow').repeat(3) + ask('/small'));
  let text = '';
  socket.resume().on('data', (chunk) => {
    text += chunk;
  });
  for (let begun = 1; begun <= 3; begun += 1) {
    await waitFor(() => slow.length === begun);
    for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate);
    t.equal(slow.length, begun, 'no other one is begun meanwhile');
    slow.at(-1)?.();
  }
  await waitFor(() => text.endsWith('small'));
  t.equal(text.match(/HTTP\/1.1 200/g)?.length, 4);
});

t.test('nothing more of a closed connection starts', async (t) => {
  const { http, socket, accepted, slow } = await anHttpServer(t);
  socket.write(ask('/slow').repeat(3));
  await waitFor(() => slow.length === 1);
  socket.destroy();
  await once(accepted, 'close');
  slow[0]?.();
  const next = await aConnection(t, http);
  next.socket.resume().write(ask('/small'));
  await once(next.socket, 'data');
  t.equal(slow.length, 1);
});

t.test('a connection with an upgrade before its answer is closed', async (t) => {
  const { socket, accepted, slow } = await anHttpServer(t);
  const closed = once(accepted, 'close');
  socket.write(
    `${ask('/slow')}GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  await closed;
  t.equal(slow.length, 1);
});

for (const paths of [['/large'], ['/endless'], ['/small', '/large']]) {
  t.test(`a connection with an unread answer is closed: ${paths}`, async (t) => {
    const { socket, accepted } = await anHttpServer(t, { stallSweeps: 20 });
    const closed = once(accepted, 'close');
    socket.write(`${paths.map(ask).join('')}GET / HTTP/1.1\r\nX: `);
    // Sending is no sign of reading.
    const timer = setInterval(() => socket.write('x'), 20);
    await closed.finally(() => clearInterval(timer));
  });
}

t.test('all unread answers have a total limit: those stalled longest are closed', async (t) => {
  const { http, socket, accepted } = await anHttpServer(t, {
    stallSweeps: Number.POSITIVE_INFINITY,
    totalBytes: 40 * MIB,
  });
  const [second, third] = [await aConnection(t, http), await aConnection(t, http)];
  socket.write(ask('/large'));
  await waitFor(() => accepted.writableLength > 0);
  const closed = Promise.race([accepted, second.accepted, third.accepted].map((each) => once(each, 'close')));
  second.socket.write(ask('/large'));
  third.socket.resume().write(ask('/endless'));
  await closed;
  t.ok(accepted.destroyed);
  t.notOk(second.accepted.destroyed, 'the one that began later stays');
  t.notOk(third.accepted.destroyed, 'and so does one that reads');
});

t.test('a quiet answer has no limit', async (t) => {
  const { http, socket, slow } = await anHttpServer(t, { stallSweeps: 2 });
  for (const path of ['/slow', '/quiet']) {
    slow.length = 0;
    socket.resume().write(ask(path));
    await waitFor(() => slow.length === 1);
    // A later connection with an unread answer reaches its limit meanwhile.
    const other = await aConnection(t, http);
    other.socket.write(ask('/large'));
    await once(other.accepted, 'close');
    const answered = new Promise<void>((resolve) => {
      socket.on('data', (chunk) => /slow|done/.test(String(chunk)) && resolve());
    });
    slow[0]?.();
    await answered;
    t.pass(path);
  }
});
