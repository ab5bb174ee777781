import t, { type Test } from 'tap';
import type { memoryStorage } from '../../src/adapters/memory/index.ts';
import { aCluster, type Cluster, inMemory } from '../support/cluster.ts';
import { ENDS } from '../support/ends.ts';
import { waitFor } from '../support/patience.ts';
import { as, type Bearer } from '../support/service.ts';
import { endless, openStream, STREAMS } from '../support/streams.ts';

type Streaming = Cluster & ReturnType<typeof endless>;

async function aStreamingCluster(t: Test, liveEveryMs?: number): Promise<Streaming> {
  const work = endless();
  const looks = liveEveryMs === undefined ? {} : { liveEveryMs };
  return { ...(await aCluster(t, { ...inMemory(), ...work.ports }, looks)), ...work };
}

/** One of each kind at each process, all of them under way. */
async function openAll(t: Test, cluster: Streaming, who: Bearer) {
  const before = cluster.atWork();
  const all = cluster.addresses.flatMap((address) =>
    STREAMS.map((kind) => openStream(t, cluster, address, who, kind)),
  );
  const opened = await Promise.all(all);
  await waitFor(() => cluster.atWork() === before + all.length, { what: 'all begin' });
  return opened;
}

const all = <T>(value: T): readonly T[] => Array.from({ length: 2 * STREAMS.length }, () => value);

const MORE_ENDS: typeof ENDS = [
  ...ENDS,
  [
    'the user is disabled',
    'ada',
    ({ here, root, ada }) => as(here, root)('PATCH', `/api/admin/users/${ada.id}`, { disabled: true }),
  ],
  [
    'the user of the token is disabled',
    'token',
    ({ here, root, ada }) => as(here, root)('PATCH', `/api/admin/users/${ada.id}`, { disabled: true }),
  ],
  [
    'the screen is locked',
    'ada',
    async ({ here, ada }) => {
      await as(here, ada)('PUT', '/api/me/lock', { passcode: '1234' });
      return await as(here, ada)('POST', '/api/sessions/lock');
    },
  ],
];

for (const [what, whose, end] of MORE_ENDS) {
  t.test(`when ${what}, what is being sent is cut off, in every process`, async (t) => {
    const cluster = await aStreamingCluster(t);
    const bystanders = what.includes('disabled') ? [] : await openAll(t, cluster, cluster.other);
    const victims = await openAll(t, cluster, cluster[whose]);
    await end(cluster);
    t.same(await Promise.all(victims.map((one) => one.cut())), all('cut off'));
    t.notOk((await Promise.all(bystanders.map((one) => one.goesOn()))).includes(false));
    await waitFor(() => cluster.atWork() === bystanders.length, { what: 'and the work behind it has ended' });
  });
}

t.test('nothing is received after the cut, and nothing of a whole answer is made up', async (t) => {
  const cluster = await aStreamingCluster(t);
  const log = await openStream(t, cluster, cluster.addresses[0], cluster.token, 'log');
  await as(cluster.here, cluster.other)('POST', `/api/tokens/${cluster.tokenId}/revoke`);
  t.equal(await log.cut(), 'cut off');
  const then = log.received();
  await waitFor(() => cluster.atWork() === 0);
  t.equal(log.received(), then);
});

t.test('a guest whose time is over goes on reading, and neither runs nor writes anything', async (t) => {
  const cluster = await aStreamingCluster(t, 20);
  const { here, ada } = cluster;
  const [log, command, download, upload] = await Promise.all(
    STREAMS.map((kind) => openStream(t, cluster, cluster.addresses[0], ada, kind)),
  );
  await waitFor(() => cluster.atWork() === STREAMS.length);
  const { state } = here.ports.storage as ReturnType<typeof memoryStorage>;
  const guestUntil = here.ports.clock.now();
  state.users = state.users.map((user) => (user.id === ada.id ? { ...user, guestUntil } : user));
  const ends = await Promise.all([command, upload].map((one) => one?.cut()));
  t.same(ends, ['cut off', 'cut off'], 'found by the regular look');
  t.same(await Promise.all([log, download].map((one) => one?.goesOn())), [true, true]);
});

t.test('what ended while the work was begun is cut off as well', async (t) => {
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

t.test('what would go on for ever ends with the process', async (t) => {
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
