import t, { type Test } from 'tap';
import { engineOrSkip, type TestEngine } from '../support/engine/engine.ts';
import {
  aContainerWithCanary,
  aKillChain,
  type Call,
  eventually,
  inside,
  type KillChain,
  readCanary,
  small,
} from '../support/process/fault-scene.ts';
import { type LifetimeEnds, lifetimeEnds } from '../support/process/lifetime-ends.ts';

const TOOL = '/usr/local/bin/tool';
const SNAPSHOT = ['measure_old', 'pause_old', 'capture_old', 'copy_volume', 'resume_old', 'commit'].flatMap(
  (step) => [`snapshot before ${step}`, `snapshot after ${step}`],
);
const FORK = ['fill_volume', 'create_fresh', 'start_fresh', 'commit'].flatMap((step) => [
  `create before ${step}`,
  `create after ${step}`,
]);
const isWhole = process.env['FAULTS'] === 'all';
// The moments in which most would be lost; all in `npm run test:faults`.
const DURING_SNAPSHOT = isWhole ? SNAPSHOT : ['snapshot after copy_volume'];
const DURING_FORK = isWhole
  ? [...SNAPSHOT, ...FORK]
  : ['snapshot after capture_old', 'create after fill_volume'];

type Scene = {
  readonly chain: KillChain;
  readonly engine: TestEngine;
  readonly dbId: string;
  readonly ends: LifetimeEnds;
};

const listOf = async (call: Call, what: 'snapshots' | 'containers') =>
  (await call('GET', `/api/${what}`)).body[what] as {
    id: string;
    db_id: string;
    name: string;
    status: string;
  }[];

/** The source runs as before, and its files are there. */
async function isIntact(t: Test, { chain, dbId }: Scene, call: Call): Promise<void> {
  t.same(await chain.invariants.violations(), [], 'the invariants hold');
  t.equal((await chain.invariants.row(dbId)).state, 'running');
  t.equal(await readCanary(call, dbId), 'kept\n');
}

async function whileTaken(t: Test, scene: Scene, point: string, n: number): Promise<void> {
  const { chain, dbId, ends } = scene;
  const name = `snap-${n}`;
  // One death is enough for the ends of lifetimes.
  const isFirst = n === 0;
  const after = await chain.dieAt(t, isFirst ? [point, ...ends.points] : [point], async (call) => {
    if (isFirst) await ends.begin();
    await call('POST', `/api/containers/${dbId}/snapshots`, { name });
  });
  if (isFirst)
    await t.test('an end by itself goes on, once, and the volume stays', (t) => ends.check(t, after));
  await isIntact(t, scene, after);
  const taken = (await listOf(after, 'snapshots')).find((one) => one.name === name);
  t.match(taken, { status: 'ready' }, 'it was carried to its end');
  const body = { name: `of-${n}`, ...small, snapshot_id: taken?.id };
  const made = (await after('POST', '/api/containers', body)).body;
  t.equal(await inside(after, String(made['db_id']), `cat /workspace/canary ${TOOL}`), 'kept\ntool\n');
  await after('DELETE', `/api/containers/${made['db_id']}`);
}

async function whileForked(t: Test, scene: Scene, point: string, n: number): Promise<void> {
  const { chain, engine, dbId } = scene;
  const name = `fork-${n}`;
  const after = await chain.dieAt(t, [point], (call) =>
    call('POST', `/api/containers/${dbId}/forks`, { name }),
  );
  await isIntact(t, scene, after);
  const fork = (await listOf(after, 'containers')).find((one) => one.name === name);
  t.equal(
    await inside(after, fork?.db_id ?? '', `cat /workspace/canary ${TOOL}`),
    'kept\ntool\n',
    'it was made',
  );
  const volumes = async () => ((await engine.docker.listVolumes()).Volumes ?? []).map(({ Name }) => Name);
  const kept = (await listOf(after, 'snapshots')).map(({ id }) => `snap-${id}`);
  const left = async () => (await volumes()).filter((one) => one.startsWith('snap-') && !kept.includes(one));
  t.same(await eventually(left, (names) => names.length === 0), [], 'its snapshot is gone');
  await after('DELETE', `/api/containers/${fork?.db_id}`);
}

t.setTimeout(isWhole ? 3_600_000 : 600_000);
t.test(
  'a service killed during snapshots, forks and ends of lifetimes',
  { timeout: 3_600_000 },
  async (t) => {
    const engine = await engineOrSkip(t);
    const chain = engine && (await aKillChain(t, engine, { BERTH_DISK_QUOTA: 'auto' }));
    if (!chain) return;
    const { dbId } = await aContainerWithCanary(await chain.call());
    await inside(await chain.call(), dbId, `echo tool > ${TOOL}`);
    const ends = await lifetimeEnds(t, chain);
    const scene = { chain, engine, dbId, ends };
    const rounds = [
      ...DURING_SNAPSHOT.map((point) => [whileTaken, point] as const),
      ...DURING_FORK.map((point) => [whileForked, point] as const),
    ];
    for (const [n, [round, point]] of rounds.entries()) {
      const done = await t.test(`${round.name}: ${point}`, { timeout: 300_000 }, (t) =>
        round(t, scene, point, n),
      );
      // The next round starts from this one's state.
      if (done?.ok !== true) return;
    }
  },
);
