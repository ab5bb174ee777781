import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { connectionBudget, limitConnections } from '../../src/adapters/http/connections/connections.ts';
import { onError } from '../../src/adapters/http/errors.ts';
import type { Http } from '../../src/adapters/http/fastify-types.ts';
import { waitFor } from '../support/patience.ts';
import { anAdmin, aPerson, aService, as, ORIGIN, type Person } from '../support/service/service.ts';
import { aContainerOf, listening } from '../support/terminal/terminals.ts';

/** A server of `budget` with a quick route and one that answers when it is told to. */
async function aServer(t: Test, budget: number) {
  const http = Fastify() as unknown as Http;
  http.setErrorHandler(onError);
  limitConnections(http, budget);
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

t.test('what the process may have open leaves a reserve, of a small limit a share', (t) => {
  t.same([64, 256, 1024, 20_000].map(connectionBudget), [38, 156, 924, 19_900]);
  t.end();
});

t.test('connections that send nothing give way to those that ask', async (t) => {
  const { dial, get, open } = await aServer(t, 10);
  for (let n = 0; n < 40; n += 1) {
    await dial();
    if (n % 8 === 7) t.match(await get('/quick'), { status: 200 }, `beside ${n + 1} silent ones`);
  }
  await waitFor(() => open() <= 10, { what: () => `${open()} are left` });
});

t.test('they give way also to a connection that sends its request later', async (t) => {
  const { dial, open } = await aServer(t, 10);
  for (let n = 0; n < 30; n += 1) await dial();
  // Of another address, which has fewer of them.
  const late = await dial('127.0.0.2');
  for (let n = 0; n < 30; n += 1) await dial();
  await waitFor(() => open() <= 10);
  const heard = once(late, 'data');
  late.write('GET /quick HTTP/1.1\r\nHost: x\r\n\r\n');
  t.match(String(await heard), /^HTTP\/1.1 200/);
});

t.test('a connection between two requests outlives those that never sent one', async (t) => {
  const { dial, get } = await aServer(t, 10);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  await get('/quick', agent);
  const [kept] = Object.values(agent.freeSockets).flat();
  for (let n = 0; n < 40; n += 1) await dial();
  t.match(await get('/quick', agent), { status: 200 });
  t.equal(Object.values(agent.freeSockets).flat()[0], kept, 'the same connection');
});

t.test('when all of them carry a request, another one is told to come back, until one ends', async (t) => {
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
    (await Promise.all(slow)).map(({ status }) => status),
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
    opened(`${address}${url}`, [protocol, `bearer.${token}`], from);
  return {
    ada,
    bob,
    events: (who: Person, from: string) => open('/api/events', 'berth.events.v1', who, from),
    terminal: (who: Person, from: string) =>
      open(`/api/containers/${boxes.get(who)}/terminal`, 'berth.terminal.v1', who, from),
  };
}

/** The socket, or how its upgrade was refused. */
async function opened(url: string, protocols: string[], from: string): Promise<WebSocket | unknown[]> {
  const socket = new WebSocket(url, protocols, { origin: ORIGIN, headers: { 'x-forwarded-for': from } });
  const refused = Promise.withResolvers<unknown[]>();
  socket.once('unexpected-response', async (request, response) => {
    const { code } = (await json(response)) as { code: string };
    refused.resolve([response.statusCode, code, response.headers['retry-after']]);
    request.destroy();
  });
  return await Promise.race([once(socket, 'open').then(() => socket), refused.promise]);
}

t.test('sockets of all users behind one address count, by what the proxy says', async (t) => {
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

t.test('of IPv6 a /64 is one address', async (t) => {
  const { ada, events } = await behindAProxy(t);
  for (const last of ['1', '2:3', 'ffff']) t.type(await events(ada, `2001:db8:0:1::${last}`), WebSocket);
  t.same(await events(ada, '2001:db8:0:1:a:b:c:d'), FULL);
  t.type(await events(ada, '2001:db8:0:2::1'), WebSocket);
});

t.test('a socket that is refused for another reason counts for no address', async (t) => {
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
