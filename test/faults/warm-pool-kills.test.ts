import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { DB_ID_LABEL, INSTANCE_LABEL } from '../../src/adapters/docker/engine/engine-names.ts';
import { openDatabase, openPool } from '../../src/adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { poolOf } from '../support/engine/container.ts';
import { engineOrSkip, type TestEngine } from '../support/engine/engine.ts';
import { aKillChain, inside, type KillChain, small } from '../support/process/fault-scene.ts';

const SIZE = 1;
const WITH = { BERTH_WARM_POOL: `${SIZE}` };
const WITHOUT = { BERTH_WARM_POOL: '0' };
const MEMORY = 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes || cat /sys/fs/cgroup/memory.max';

/** Where the process dies while the pool is filled, a member is claimed, and the pool is emptied. */
type Round = { readonly filling: string; readonly claiming: string; readonly emptying: string };

// One point of each kind in the usual run, and all of them with FAULTS=all.
const ROUNDS: readonly Round[] =
  process.env['FAULTS'] === 'all'
    ? [
        { filling: 'before create', claiming: 'before fit_fresh', emptying: 'before discard' },
        { filling: 'after create', claiming: 'after fit_fresh', emptying: 'after discard' },
        { filling: 'after start', claiming: 'before commit', emptying: 'before discard' },
        { filling: 'after ready', claiming: 'after commit', emptying: 'after discard' },
      ]
    : [{ filling: 'after create', claiming: 'after fit_fresh', emptying: 'after discard' }];

const CLAIMS = process.env['FAULTS'] === 'all' ? ['before claim', 'after claim'] : ['after claim'];

type Scene = {
  readonly chain: KillChain;
  /** Waits until the pool has this many, all ready. */
  readonly settled: (size: number) => Promise<string[]>;
  readonly states: () => Promise<string[]>;
  readonly counts: () => Promise<{ containers: number; volumes: number }>;
};

async function aScene(t: Test, engine: TestEngine): Promise<Scene | null> {
  const chain = await aKillChain(t, engine, WITH);
  if (chain === null) return null;
  const db = openDatabase(openPool({ url: chain.url, poolSize: 2 }));
  t.teardown(() => db.destroy());
  const storage = postgresStorage(db);
  const { warmPool, installation } = storage.repositories;
  const label = [`${INSTANCE_LABEL}=${await installation.id()}`];
  // The tmux volume belongs to the installation.
  const ofRows = [...label, DB_ID_LABEL];
  return {
    chain,
    settled: (size) => poolOf(storage, size),
    states: async () => (await warmPool.list(randomUUID(), false)).map((one) => one.state),
    counts: async () => ({
      containers: (await engine.docker.listContainers({ all: true, filters: { label } })).length,
      volumes: ((await engine.docker.listVolumes({ filters: { label: ofRows } })).Volumes ?? []).length,
    }),
  };
}

/** `kept`: volumes of containers deleted in earlier rounds. */
type Phase = (t: Test, scene: Scene, point: string, kept: number) => Promise<void>;

const whileFilling: Phase = async (t, { chain, settled, states, counts }, point, kept) => {
  await chain.dieStarting(t, `pool ${point}`);
  t.same(await states(), [point === 'after ready' ? 'ready' : 'making'], 'it died there');
  await chain.call();
  await settled(SIZE);
  t.same(await counts(), { containers: SIZE, volumes: SIZE + kept }, 'nothing is left of the first try');
  t.same(await chain.invariants.violations(), []);
};

const whileClaiming: Phase = async (t, { chain, settled, counts }, point, kept) => {
  const [member = ''] = await settled(SIZE);
  const again = await chain.dieAt(t, [`create ${point}`], (call) =>
    call('POST', '/api/containers', { name: `dev-${kept}`, ...small }),
  );
  await settled(SIZE);
  t.same(await chain.invariants.violations(), []);
  t.same(await counts(), { containers: 1 + SIZE, volumes: 1 + SIZE + kept });
  const { containers } = (await again('GET', '/api/containers')).body as { containers: object[] };
  t.match(
    containers,
    [{ db_id: member, status: 'running', resources: small }],
    'the create was carried to its end',
  );
  t.equal(await inside(again, member, MEMORY), `${small.memory_mb * 1024 * 1024}\n`, 'with its limits');
  await again('DELETE', `/api/containers/${member}`);
};

const whileEmptying: Phase = async (t, { chain, settled, states, counts }, point, kept) => {
  await settled(SIZE);
  await chain.stop(WITHOUT);
  await chain.dieStarting(t, `pool ${point}`);
  t.same(await states(), ['removing'], 'it died there');
  await chain.call();
  await settled(0);
  t.same(await counts(), { containers: 0, volumes: 1 + kept }, 'off means off');
  await chain.stop(WITH);
};

/** What the engine has as claimed may be in use, as far as a later process knows. */
const beforeTheCreate: Phase = async (t, { chain, settled, counts }, point, kept) => {
  const [member = ''] = await settled(SIZE);
  const again = await chain.dieAt(t, [`pool ${point}`], (call) =>
    call('POST', '/api/containers', { name: 'never', ...small }),
  );
  const [next] = await settled(SIZE);
  t.not(next, member, 'nobody else gets it');
  t.match((await again('GET', '/api/containers')).body, { containers: [] });
  const left = point === 'after claim' ? 1 : 0;
  t.same(await counts(), { containers: SIZE + left, volumes: SIZE + left + kept });
};

t.setTimeout(1_800_000);
t.test('a killed service with a warm pool', { timeout: 1_800_000 }, async (t) => {
  const engine = await engineOrSkip(t);
  const scene = engine === null ? null : await aScene(t, engine);
  if (scene === null) return;
  for (const [kept, { filling, claiming, emptying }] of ROUNDS.entries()) {
    const phases = [
      ['filling', whileFilling, filling],
      ['claiming', whileClaiming, claiming],
      ['emptying', whileEmptying, emptying],
    ] as const;
    for (const [what, phase, point] of phases) {
      const done = await t.test(`while ${what}: ${point}`, { timeout: 300_000 }, (t) =>
        phase(t, scene, point, kept),
      );
      // The next phase starts from this one's state.
      if (done?.ok !== true) return;
    }
  }
  await scene.chain.call();
  for (const point of CLAIMS)
    await t.test(`before the create: ${point}`, { timeout: 300_000 }, (t) =>
      beforeTheCreate(t, scene, point, ROUNDS.length),
    );
});
