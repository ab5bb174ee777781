import { once } from 'node:events';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { memoryRuntime } from '../../src/adapters/memory/index.ts';
import { CLOSE } from '../../src/domain/terminals/terminal.ts';
import { RuntimeFailure } from '../../src/ports/containers/container-runtime.ts';
import { StorageTooSlow } from '../../src/ports/storage.ts';
import { waitFor } from '../support/patience.ts';
import { aCluster } from '../support/service/cluster.ts';
import {
  anAdmin,
  anApiToken,
  aPerson,
  aService,
  as,
  ORIGIN,
  type Person,
} from '../support/service/service.ts';
import { type EventClient, eventClient, listenOnUnix, type Message } from '../support/service/streams.ts';
import { aContainerOf, listening } from '../support/terminal/terminals.ts';

async function aScene(t: Test) {
  const service = await aService();
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  const address = await listening(t, service);
  const dbId = await aContainerOf(service, ada);
  const post = async (path: string, who: Person = ada) => {
    const { statusCode } = await as(service, who)('POST', path);
    t.equal(statusCode, 200, path);
  };
  const stop = () => post(`/api/containers/${dbId}/stop`);
  const start = () => post(`/api/containers/${dbId}/start`);
  return { service, address, ada, bob, dbId, stop, start };
}

const typesOf = ({ messages }: EventClient): string[] => messages.map(({ type }) => type);

/** Makes the client receive everything announced, by a last change. */
async function heardAll({ socket, messages, until }: EventClient, last: () => Promise<void>): Promise<void> {
  const before = messages.length;
  await last();
  await until(() => messages.length > before);
  // The pong comes after all that was sent.
  socket.ping();
  await once(socket, 'pong');
}

t.test('every change of a container is one event, with its new state', async (t) => {
  const { service, address, ada, dbId, stop, start } = await aScene(t);
  const client = await eventClient(address, ada.token);
  t.equal(client.socket.protocol, 'berth.events.v1', 'never the protocol that carries the token');
  const call = as(service, ada);
  await stop();
  await start();
  const { resources } = (await call('GET', `/api/containers/${dbId}`)).json();
  const smaller = { ...resources, memory_mb: resources.memory_mb / 2 };
  await call('PATCH', `/api/containers/${dbId}`, { name: 'renamed', ...resources });
  await call('PATCH', `/api/containers/${dbId}`, { name: 'renamed', ...smaller });
  await call('DELETE', `/api/containers/${dbId}`);
  await call('POST', `/api/containers/${dbId}/restore`);
  await call('POST', '/api/containers', { name: 'second' });
  await client.until(() => client.messages.length >= 7);
  t.match(client.messages, [
    { type: 'container_stopped', data: { db_id: dbId, name: 'dev', status: 'stopped' } },
    { type: 'container_started', data: { db_id: dbId, name: 'dev', status: 'running' } },
    { type: 'container_updated', data: { name: 'renamed', status: 'running', restarted: false } },
    { type: 'container_updated', data: { restarted: true, resources: smaller } },
    { type: 'container_deleted', data: { db_id: dbId, status: 'deleted' } },
    { type: 'container_created', data: { db_id: dbId, name: 'renamed', status: 'stopped' } },
    { type: 'container_created', data: { name: 'second', status: 'running' } },
  ]);
  t.equal(client.messages.length, 7);
  t.same(Object.keys(client.messages[0] ?? {}), ['type', 'data', 'id', 'time']);
  t.same(Object.keys(client.messages[0]?.data ?? {}), ['id', 'db_id', 'name', 'status']);
  t.match(client.messages[0], { id: /^\S+$/, time: /^\d{4}-.*Z$/, data: { id: /^[0-9a-f]{64}$/ } });
});

t.test('a failed create was listed, and its removal is an event', async (t) => {
  const runtime = memoryRuntime();
  const service = await aService({ runtime });
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  const dbId = await aContainerOf(service, ada);
  t.equal((await call('DELETE', `/api/containers/${dbId}`)).statusCode, 200);
  const client = await eventClient(await listening(t, service), ada.token);
  const states: string[] = [];
  runtime.create = async () => {
    const { containers } = (await call('GET', '/api/containers')).json();
    states.push(containers[0].status);
    throw new RuntimeFailure('disk on fire');
  };
  t.equal((await call('POST', '/api/containers', { name: 'new' })).statusCode, 500);
  t.equal((await call('POST', `/api/containers/${dbId}/restore`)).statusCode, 500);
  await client.until(() => client.messages.length === 2);
  t.match(client.messages, [
    { type: 'container_deleted', data: { name: 'new', status: 'deleted' } },
    { type: 'container_deleted', data: { db_id: dbId, name: 'dev', status: 'deleted' } },
  ]);
  t.same(states, ['creating', 'creating'], 'as whoever looked meanwhile has seen it');
});

t.test('users get no events of foreign containers, and participants get them from joining on', async (t) => {
  const { service, address, ada, bob, dbId, stop, start } = await aScene(t);
  const admin = await anAdmin(service);
  const [guest, root] = [await eventClient(address, bob.token), await eventClient(address, admin.token)];
  const own = await eventClient(address, ada.token);
  await stop();
  await heardAll(own, start);
  t.same([guest, root].map(typesOf), [[], []], 'not even an administrator');
  const id = own.messages[0]?.id ?? '';
  const later = await eventClient(address, bob.token, id);
  await heardAll(later, async () => void (await aContainerOf(service, bob)));
  t.same(typesOf(later), ['container_created'], 'nor by the id of a foreign event');

  const shared = await as(service, ada)('POST', `/api/containers/${dbId}/collaborations`, { mode: 'view' });
  const { code } = shared.json();
  t.equal((await as(service, bob)('POST', '/api/collaborations/join', { code })).statusCode, 200);
  const back = await eventClient(address, bob.token, id);
  await heardAll(guest, stop);
  await back.until(() => back.messages.length > 1);
  t.same(typesOf(guest), ['container_created', 'container_stopped']);
  t.same(back.messages, guest.messages, 'nor what came back from an id of before');
});

t.test('a returning subscriber gets missed events, then new ones, in order and once', async (t) => {
  const { address, ada, stop, start } = await aScene(t);
  const first = await eventClient(address, ada.token);
  await stop();
  await first.until(() => first.messages.length === 1);
  const last = first.messages[0] as Message;
  first.socket.terminate();
  for (const change of [start, stop, start]) await change();
  const second = await eventClient(address, ada.token, last.id);
  await heardAll(second, stop);
  t.same(typesOf(second), [
    'container_started',
    'container_stopped',
    'container_started',
    'container_stopped',
  ]);
  t.equal(new Set([last, ...second.messages].map(({ id }) => id)).size, 5);
});

t.test('an unknown id is answered by resync, and new events follow', async (t) => {
  const { service, address, ada, dbId, stop } = await aScene(t);
  const before = await eventClient(address, ada.token);
  await heardAll(before, stop);
  const old = before.messages[0]?.id ?? '';
  const credential = await anApiToken(service, ada);
  const { events } = service.ports.storage.repositories;
  const event = { type: 'container_progress', dbId, ownerId: ada.id, data: {} } as const;
  const resyncs = async (what: string, id: string) => {
    const client = await eventClient(address, credential.token, id);
    await client.until(() => client.messages.length === 1);
    t.same(client.messages, [{ type: 'resync' }], what);
    await events.append(event);
    service.ports.bus.publish('events', {});
    await client.until(() => client.messages.length === 2);
    client.socket.terminate();
  };
  for (const id of ['nothing', '']) await resyncs(`an unknown id: "${id}"`, id);
  for (const slow of ['seenBy', 'keepsSince'] as const) {
    const works = events[slow];
    const fails = () => Promise.reject(new StorageTooSlow('the statement took too long'));
    Object.assign(events, { [slow]: fails });
    await resyncs(`too long to read: ${slow}`, old);
    Object.assign(events, { [slow]: works });
  }
  const last = before.messages.at(-1)?.id ?? old;
  const { events: since } = await events.after(last, 2_000);
  for (let n = since.length; n < 1_000; n += 1) await events.append(event);
  const just = await eventClient(address, ada.token, last);
  await just.until(() => just.messages.length === 1_000);
  await events.append(event);
  await resyncs('more than 1,000', last);
  service.clock.advance(24 * 3_600_000);
  await resyncs('too old', old);
});

t.test('a subscriber that does not read gets resync later, and delays nobody', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const dbId = await aContainerOf(service, ada);
  const address = `ws+unix://${await listenOnUnix(t, service)}:`;
  const [slow, quick] = [await eventClient(address, ada.token), await eventClient(address, ada.token)];
  const { storage, bus } = service.ports;
  const data = { role_setup: { detail: 'x'.repeat(4_000) } };
  const event = { type: 'container_progress', dbId, ownerId: ada.id, data } as const;
  slow.socket.pause();
  // A thousand may wait, besides the connection's buffers.
  const COUNT = 1_500;
  for (let n = 0; n < COUNT; n += 100) {
    for (let i = 0; i < 100; i += 1) await storage.repositories.events.append(event);
    bus.publish('events', {});
    await quick.until(() => quick.messages.length === n + 100);
  }
  slow.socket.resume();
  await slow.until(() => slow.messages.some(({ type }) => type === 'resync'));
  const { messages } = slow;
  const at = messages.findIndex(({ type }) => type === 'resync');
  const ids = messages.slice(0, at).map(({ id }) => id);
  t.same(
    ids,
    quick.messages.slice(0, at).map(({ id }) => id),
    'up to there nothing is missing',
  );
  t.ok(at < COUNT, `${at} of ${COUNT}`);
  await storage.repositories.events.append(event);
  bus.publish('events', {});
  await slow.until(() => messages.at(-1)?.type === 'container_progress');
  t.equal(messages.length, at + 2);
});

t.test('a ping is answered, other frames are ignored, and a flood is read slowly', async (t) => {
  const { service, address, ada } = await aScene(t);
  const { socket, messages, until } = await eventClient(address, ada.token);
  for (const text of ['{', 'null', '{"type":"ping"}', '{"type":"other","t":1}']) socket.send(text);
  socket.send(Buffer.from('{"type":"ping","t":1}'));
  socket.send('{"type":"ping","t":7}');
  await until(() => messages.length > 0);
  t.same(messages, [{ type: 'pong', t: 7 }]);
  const [server] = service.http.websocketServer.clients;
  for (let sent = 0; sent < 4; sent += 1) socket.send('x'.repeat(1_048_576));
  await waitFor(() => server?.isPaused === true, { what: 'the sender is made to wait, as in a terminal' });
  const other = await eventClient(address, ada.token);
  service.closeEvents(CLOSE.serviceRestarting);
  t.same(await other.closed(), [4012, 'service restarting'], 'a process that ends says that it comes back');
});

/** An upgrade's refusal. */
async function refusal(url: string, protocols: string[], headers: Record<string, string> = {}) {
  const socket = new WebSocket(url, protocols, { headers });
  t.teardown(() => socket.terminate());
  return await new Promise<number>((resolve) => {
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    socket.on('open', () => resolve(101));
    socket.on('error', () => {});
  });
}

t.test('credentials are accepted as for terminals, and never in the address', async (t) => {
  const { service, address, ada } = await aScene(t);
  const url = `${address}/api/events`;
  const { token } = await anApiToken(service, ada, { scopes: ['read'] });
  const ways: [number, string, string[], Record<string, string>][] = [
    [101, url, ['berth.events.v1', `bearer.${token}`], {}],
    [101, url, [], { authorization: `Bearer ${ada.token}` }],
    [101, url, ['berth.events.v1', `bearer.${token}`], { origin: ORIGIN }],
    [401, url, ['berth.events.v1'], {}],
    [401, url, [`bearer.${token}`], {}],
    [401, url, ['berth.terminal.v1', `bearer.${token}`], {}],
    [401, url, ['berth.events.v1', 'bearer.nonsense'], {}],
    [401, `${url}?token=${token}`, [], {}],
    [400, `${url}?token=${token}`, ['berth.events.v1', `bearer.${token}`], {}],
    [400, `${url}?after=${'x'.repeat(129)}`, ['berth.events.v1', `bearer.${token}`], {}],
    [403, url, ['berth.events.v1', `bearer.${token}`], { origin: 'https://evil.example' }],
  ];
  for (const [status, at, protocols, headers] of ways)
    t.equal(await refusal(at, protocols, headers), status, `${at} ${protocols} ${Object.keys(headers)}`);
});

t.test('a revocation or lock at one process closes the socket at the other', async (t) => {
  const { here, addresses, ada, other, token, tokenId } = await aCluster(t);
  const sockets = [
    await eventClient(addresses[1], other.token),
    await eventClient(addresses[1], token.token),
    await eventClient(addresses[1], ada.token),
  ] as const;
  const call = as(here, ada);
  await call('POST', '/api/sessions/revoke-others', {});
  await call('POST', `/api/tokens/${tokenId}/revoke`);
  for (const one of sockets.slice(0, 2)) t.same(await one.closed(), [4001, 'unauthorized']);
  await call('POST', '/api/containers', { name: 'another' });
  await sockets[2].until(() => sockets[2].messages.length === 1);
  t.same(
    sockets.map(({ messages }) => messages.length),
    [0, 0, 1],
    'who was sent away hears nothing more',
  );
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  await call('POST', '/api/sessions/lock');
  t.same(await sockets[2].closed(), [4001, 'unauthorized'], 'a screen that locks ends the events');
});

t.test('a change at one process reaches the other, even without a message', async (t) => {
  const { here, addresses, ada, dbId } = await aCluster(t);
  const client = await eventClient(addresses[1], ada.token);
  await as(here, ada)('POST', `/api/containers/${dbId}/stop`);
  await client.until(() => client.messages.length === 1);
  const { events } = here.ports.storage.repositories;
  await events.append({ type: 'container_started', dbId, ownerId: ada.id, data: {} });
  await client.until(() => client.messages.length === 2);
  t.same(typesOf(client), ['container_stopped', 'container_started']);
});

t.test('a subscriber returning to a process that is behind gets nothing twice', async (t) => {
  const { here, addresses, ada, dbId } = await aCluster(t);
  const idle = await eventClient(addresses[1], ada.token);
  const { events } = here.ports.storage.repositories;
  const event = { type: 'container_progress', dbId, ownerId: ada.id, data: {} } as const;
  const from = await events.end();
  await events.append(event);
  await events.append(event);
  const { events: both } = await events.after(from, 9);
  const ahead = await eventClient(addresses[1], ada.token, both[1]?.id ?? null);
  await events.append(event);
  await waitFor(() => idle.messages.length === 3 && ahead.messages.length === 1);
  t.same(ahead.messages, idle.messages.slice(2));
});
