import { setImmediate as immediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { waitFor } from '../../support/patience.ts';
import { aCluster, type Cluster, inMemory } from '../../support/service/cluster.ts';
import {
  again,
  aPerson,
  as,
  type Bearer,
  person,
  refresh,
  sessionIdOf,
  stateOf,
} from '../../support/service/service.ts';
import { endless, openStream, STREAMS } from '../../support/service/streams.ts';

/** What ends the credential of `ada` or `token`, done at one process. */
const ENDS: readonly (readonly [string, 'ada' | 'token', (cluster: Cluster) => Promise<unknown>])[] = [
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
    'another session changes the password',
    'ada',
    ({ here, other }) => {
      const { password } = person('ada');
      const change = { old_password: password, new_password: `${password}!` };
      return as(here, other)('POST', '/api/me/password', change);
    },
  ],
  [
    'the fifth passcode is wrong',
    'ada',
    async ({ here, ada }) => {
      await as(here, ada)('PUT', '/api/me/lock', { passcode: '1234' });
      for (let tries = 0; tries < 5; tries += 1)
        await as(here, ada)('POST', '/api/sessions/unlock', { passcode: '0000' });
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

const UNAUTHORIZED = [4001, 'unauthorized'] as const;

type Streaming = Cluster & ReturnType<typeof endless>;

async function aStreamingCluster(t: Test, liveEveryMs?: number): Promise<Streaming> {
  const work = endless();
  const checks = liveEveryMs === undefined ? {} : { liveEveryMs };
  return { ...(await aCluster(t, { ...inMemory(), ...work.ports }, checks)), ...work };
}

/** A terminal and one stream of each kind at each process, all in progress. */
async function openAll(t: Test, cluster: Streaming, who: Bearer, pane: string) {
  const before = cluster.atWork();
  const asked = cluster.addresses.flatMap((address) =>
    STREAMS.map((kind) => openStream(t, cluster, address, who, kind)),
  );
  const streams = await Promise.all(asked);
  await waitFor(() => cluster.atWork() === before + streams.length, { what: 'all begin' });
  return { streams, terminals: await cluster.openEverywhere({ ...cluster.ada, ...who }, pane) };
}
type Opened = Awaited<ReturnType<typeof openAll>>;

const ends = async ({ streams, terminals }: Opened) => [
  await Promise.all(streams.map((one) => one.cut())),
  await Promise.all(terminals.map((one) => one.closed())),
];
const CUT = [STREAMS.flatMap(() => ['cut off', 'cut off']), [UNAUTHORIZED, UNAUTHORIZED]];

const goOn = async ({ streams, terminals }: Opened): Promise<boolean> =>
  [
    ...(await Promise.all(streams.map((one) => one.goesOn()))),
    ...(await Promise.all(terminals.map((one) => one.alive()))),
  ].every(Boolean);

const LOCKED = 'the screen is locked';
const lock: (typeof ENDS)[number] = [
  LOCKED,
  'ada',
  async ({ here, ada }) => {
    await as(here, ada)('PUT', '/api/me/lock', { passcode: '1234' });
    await as(here, ada)('POST', '/api/sessions/lock');
  },
];

for (const [what, whose, end] of [...ENDS, lock]) {
  t.test(`when ${what}, its terminals close and streamed answers end, in every process`, async (t) => {
    const cluster = await aStreamingCluster(t);
    const victim = await openAll(t, cluster, cluster[whose], 'victim');
    const bystander = await openAll(t, cluster, cluster.other, 'bystander');
    await end(cluster);
    t.same(await ends(victim), CUT);
    const received = () => victim.streams.map((one) => one.received());
    const then = received();
    t.ok(await goOn(bystander));
    await waitFor(() => cluster.atWork() === bystander.streams.length, {
      what: 'the work behind it has ended',
    });
    t.same(received(), then, 'nothing is received after the cut');
    for (const replica of [cluster.here, cluster.there]) {
      const answer = await as(replica, cluster[whose])('GET', '/api/containers');
      if (what === LOCKED) t.equal(answer.statusCode, 423);
      else
        t.equal(
          answer.headers['www-authenticate'],
          'Bearer error="invalid_token"',
          'its next request is refused',
        );
    }
  });
}

t.test('disabling a user ends everything of theirs and nothing of others', async (t) => {
  const cluster = await aStreamingCluster(t);
  const { here, there, root, ada, other, token } = cluster;
  const people = [ada, other, token];
  const victims: Opened[] = [];
  for (const [at, who] of people.entries()) victims.push(await openAll(t, cluster, who, `pane${at}`));
  const change = (disabled: boolean) => as(here, root)('PATCH', `/api/admin/users/${ada.id}`, { disabled });
  const statuses = (at: typeof here) =>
    Promise.all(people.map(async (who) => (await as(at, who)('GET', '/api/me')).statusCode));
  t.equal((await change(true)).statusCode, 200);
  for (const victim of victims) t.same(await ends(victim), CUT);
  await waitFor(() => cluster.atWork() === 0, { what: 'the work behind it has ended' });
  for (const replica of [here, there]) {
    t.same(await statuses(replica), [401, 401, 401]);
    t.equal((await as(replica, root)('GET', '/api/me')).statusCode, 200);
  }
  await change(false);
  t.same(
    await statuses(there),
    [401, 401, 200],
    'the sessions are gone for good, the token sleeps meanwhile',
  );
});

t.test('a change that ends nothing closes nothing', async (t) => {
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

t.test('after the revocation no output is sent, and no input reaches the program', async (t) => {
  const { here, ada, other, backend, open } = await aCluster(t);
  const victim = await open(ada, 'main');
  const pty = backend.opened.at(-1);
  if (pty === undefined) return t.fail('no terminal was opened');
  const [atServer] = here.http.websocketServer.clients;
  victim.socket.send(Buffer.from('before'));
  await waitFor(() => pty.typed() === 'before');
  // It reads nothing, so it does not answer the close, and keeps typing.
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

t.test('an expired guest may keep reading, and neither runs nor writes anything', async (t) => {
  const cluster = await aStreamingCluster(t, 20);
  const { here, ada } = cluster;
  const terminal = await cluster.open(ada, 'main');
  const [log, command, download, upload] = await Promise.all(
    STREAMS.map((kind) => openStream(t, cluster, cluster.addresses[0], ada, kind)),
  );
  await waitFor(() => cluster.atWork() === STREAMS.length);
  const state = stateOf(here);
  const guestUntil = here.ports.clock.now();
  state.users = state.users.map((user) => (user.id === ada.id ? { ...user, guestUntil } : user));
  t.same(await terminal.closed(), UNAUTHORIZED, 'found by the regular check');
  t.same(await Promise.all([command, upload].map((one) => one?.cut())), ['cut off', 'cut off']);
  t.same(await Promise.all([log, download].map((one) => one?.goesOn())), [true, true]);
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

t.test('work that began before the revocation is cut off too', async (t) => {
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const work = endless();
  const commands: typeof work.ports.commands = {
    async open(handle, request) {
      begun.resolve();
      await goOn.promise;
      return await work.ports.commands.open(handle, request);
    },
  };
  const cluster = await aCluster(t, { ...inMemory(), ...work.ports, commands });
  const opening = openStream(t, cluster, cluster.addresses[0], cluster.token, 'command');
  await begun.promise;
  await as(cluster.here, cluster.other)('POST', `/api/tokens/${cluster.tokenId}/revoke`);
  goOn.resolve();
  const outcome = await opening.then((one) => one.cut()).catch(() => 'cut off');
  t.equal(outcome, 'cut off');
  await waitFor(() => work.atWork() === 0, { what: 'and the program has ended' });
});

t.test('endless answers end with the process', async (t) => {
  const cluster = await aStreamingCluster(t);
  const streams = await Promise.all(
    STREAMS.map((kind) => openStream(t, cluster, cluster.addresses[0], cluster.ada, kind)),
  );
  await waitFor(() => cluster.atWork() === STREAMS.length);
  const closing = cluster.here.http.close();
  t.notOk((await Promise.all(streams.map((one) => one.goesOn()))).includes(false));
  cluster.here.cutOff();
  await closing;
  t.same(new Set(await Promise.all(streams.map((one) => one.cut()))), new Set(['cut off']));
});
