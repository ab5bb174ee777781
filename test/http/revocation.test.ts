import { setImmediate as immediate } from 'node:timers/promises';
import t from 'tap';
import { WebSocket } from 'ws';
import type { memoryStorage } from '../../src/adapters/memory/index.ts';
import { aCluster, inMemory } from '../support/cluster.ts';
import { ENDS } from '../support/ends.ts';
import { waitFor } from '../support/patience.ts';
import { aPerson, as } from '../support/service.ts';
import { again, refresh, sessionIdOf } from '../support/sign-ins.ts';

const UNAUTHORIZED = [4001, 'unauthorized'] as const;

for (const [what, whose, end] of ENDS) {
  t.test(`when ${what}, its terminals close at once, in every process`, async (t) => {
    const cluster = await aCluster(t);
    const victims = await cluster.openEverywhere(cluster[whose], 'victim');
    const bystanders = await cluster.openEverywhere(cluster.other, 'bystander');
    await end(cluster);
    t.same(await Promise.all(victims.map((one) => one.closed())), [UNAUTHORIZED, UNAUTHORIZED]);
    t.same(await Promise.all(bystanders.map((one) => one.alive())), [true, true]);
    for (const replica of [cluster.here, cluster.there]) {
      const answer = await as(replica, cluster[whose])('GET', '/api/me');
      t.equal(answer.statusCode, 401, 'and its next request is refused');
      t.match(answer.headers['www-authenticate'], 'Bearer error="invalid_token"');
    }
  });
}

t.test('when a user is disabled, everything of theirs closes and nothing of others', async (t) => {
  const cluster = await aCluster(t);
  const { here, there, root, ada, other, token } = cluster;
  const victims = (
    await Promise.all([ada, other, token].map((who, at) => cluster.openEverywhere(who, `pane${at}`)))
  ).flat();
  const disabled = await as(here, root)('PATCH', `/api/admin/users/${ada.id}`, { disabled: true });
  t.equal(disabled.statusCode, 200);
  const ends = await Promise.all(victims.map((one) => one.closed()));
  t.same(
    ends,
    Array.from({ length: 6 }, () => UNAUTHORIZED),
  );
  for (const replica of [here, there]) {
    for (const who of [ada, other, token])
      t.equal((await as(replica, who)('GET', '/api/me')).statusCode, 401);
    t.equal((await as(replica, root)('GET', '/api/me')).statusCode, 200);
  }
  await as(here, root)('PATCH', `/api/admin/users/${ada.id}`, { disabled: false });
  const after = await Promise.all([ada, other, token].map((who) => as(there, who)('GET', '/api/me')));
  t.same(
    after.map(({ statusCode }) => statusCode),
    [401, 401, 200],
    'the sessions are gone for good, the token sleeps meanwhile',
  );
});

t.test('what ends nothing closes nothing', async (t) => {
  const cluster = await aCluster(t);
  const { here, root, ada } = cluster;
  const sockets = await cluster.openEverywhere(ada, 'main');
  const renewed = await refresh(here, ada);
  t.equal(renewed.statusCode, 200);
  t.not(renewed.json().token, ada.token);
  await as(here, root)('PATCH', `/api/admin/users/${ada.id}`, { tier: 'pro' });
  await as(here, root)('PATCH', '/api/admin/settings', { session_idle_minutes: 60 });
  const eve = await aPerson(here, 'eve');
  await as(here, eve)('POST', '/api/auth/logout');
  t.same(await Promise.all(sockets.map((one) => one.alive())), [true, true]);
});

t.test('no output follows the decision, and nothing typed after it reaches the program', async (t) => {
  const { here, ada, other, backend, open } = await aCluster(t);
  const victim = await open(ada, 'main');
  const pty = backend.opened.at(-1);
  if (pty === undefined) return t.fail('no terminal was opened');
  const [atServer] = here.http.websocketServer.clients;
  victim.socket.send(Buffer.from('before'));
  await waitFor(() => pty.typed() === 'before');
  // It reads nothing any more, so it does not answer the close, and goes on typing.
  victim.socket.pause();
  await as(here, other)('DELETE', `/api/sessions/${await sessionIdOf(here, ada)}`);
  await waitFor(() => atServer?.readyState !== WebSocket.OPEN, { what: 'the close is sent' });
  pty.say('late');
  for (let n = 0; n < 100; n += 1) victim.socket.send(Buffer.from('after'));
  await waitFor(() => here.http.websocketServer.clients.size === 0, { what: 'its line is cut' });
  victim.socket.resume();
  t.same(await victim.closed(), UNAUTHORIZED);
  await waitFor(() => pty.stream.destroyed, { what: 'the program was let go' });
  t.same([victim.output(), pty.typed()], ['', 'before']);
});

t.test('a peer that does not answer the close is cut off', async (t) => {
  const { here, ada, other, open } = await aCluster(t);
  const victim = await open(ada, 'mute');
  const connections = (): number => here.http.websocketServer.clients.size;
  t.equal(connections(), 1);
  victim.socket.pause();
  await as(here, other)('DELETE', `/api/sessions/${await sessionIdOf(here, ada)}`);
  await waitFor(() => connections() === 0);
  victim.socket.terminate();
});

t.test('a revocation during the upgrade leaves no socket open', async (t) => {
  const { here, ada, other, open } = await aCluster(t);
  for (const turns of [0, 1, 2, 3, 5, 8, 13, 21]) {
    const brief = await again(here, ada, 'ada');
    const id = await sessionIdOf(here, brief);
    const opening = open(brief, `pane${turns}`);
    for (let n = 0; n < turns; n += 1) await immediate();
    await as(here, other)('DELETE', `/api/sessions/${id}`);
    t.not(await (await opening).closed(), 'still open', `${turns} turns of the event loop after its request`);
  }
});

t.test('a guest whose time is over loses its terminals', async (t) => {
  const { here, ada, open } = await aCluster(t, inMemory(), { liveEveryMs: 20 });
  const socket = await open(ada, 'main');
  const { state } = here.ports.storage as ReturnType<typeof memoryStorage>;
  const guestUntil = here.ports.clock.now();
  state.users = state.users.map((user) => (user.id === ada.id ? { ...user, guestUntil } : user));
  t.same(await socket.closed(), UNAUTHORIZED, 'the regular look finds it');
});

t.test('a refused upgrade leaves no connection behind', async (t) => {
  const { here, ada, open } = await aCluster(t);
  const connections = () =>
    new Promise<number>((resolve) => here.http.server.getConnections((_, n) => resolve(n)));
  const before = await connections();
  const nobody = { ...ada, token: 'a.b.c' };
  await Promise.all(Array.from({ length: 20 }, (_, pane) => open(nobody, `pane${pane}`)));
  const { port } = here.http.addresses()[0] as { port: number };
  for (const path of ['/api/containers/%E0%A4%A/terminal', `/api/containers/${'x'.repeat(200)}/terminal`]) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
    await new Promise((resolve) => socket.on('error', resolve));
  }
  await waitFor(async () => (await connections()) === before);
});
