import { randomUUID } from 'node:crypto';
import path from 'node:path';
import t, { type Test } from 'tap';
import { DB_ID_LABEL, INSTANCE_LABEL } from '../../src/adapters/docker/labels.ts';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { freshDatabase } from '../support/database.ts';
import { engineOrSkip, type TestEngine } from '../support/engine.ts';
import { Invariants } from '../support/invariants.ts';
import { aPlace, client, type Place, signInAdmin, startService } from '../support/running-service.ts';
import { poolOf } from '../support/warm-pool.ts';

const FAULTY = path.resolve('test/support/faulty-server.ts');
const SIZE = 1;
const small = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };

const FILLING = ['before create', 'after create', 'after start', 'after ready'].map(
  (point) => `pool ${point}`,
);
const CLAIMING = ['before fit_fresh', 'after fit_fresh', 'before commit', 'after commit'].map(
  (point) => `create ${point}`,
);
const EMPTYING = ['pool before discard', 'pool after discard'];

const dying = ({ env, dataDir }: Place, point: string): Place => ({
  dataDir,
  env: { ...env, FAULT_AT: point },
});
const without = ({ env, dataDir }: Place): Place => ({ dataDir, env: { ...env, BERTH_WARM_POOL: '0' } });

t.setTimeout(1_800_000);
const engine = await engineOrSkip(t);
// A process dies in one point of each kind in the usual run, and in all of them with FAULTS=all.
const all = process.env['FAULTS'] === 'all';
const chosen = (points: readonly string[], usual: string) => (all ? points : [usual]);
if (engine !== null) {
  for (const point of chosen(FILLING, 'pool after create')) {
    await scene(`killed while filling: ${point}`, engine, (t, scene) => whileFilling(t, scene, point));
  }
  for (const point of chosen(CLAIMING, 'create after fit_fresh')) {
    await scene(`killed while claiming: ${point}`, engine, (t, scene) => whileClaiming(t, scene, point));
  }
  for (const point of chosen(EMPTYING, 'pool after discard')) {
    await scene(`killed while emptying: ${point}`, engine, (t, scene) => whileEmptying(t, scene, point));
  }
}

type Scene = {
  readonly place: Place;
  readonly engine: TestEngine;
  /** Waits until the pool has so many, all ready. */
  readonly settled: (size: number) => Promise<string[]>;
  readonly invariants: Invariants;
  readonly states: () => Promise<string[]>;
  readonly counts: () => Promise<{ containers: number; volumes: number }>;
};

async function scene(
  name: string,
  engine: TestEngine,
  work: (t: Test, scene: Scene) => Promise<void>,
): Promise<void> {
  await t.test(name, { timeout: 300_000 }, async (t) => {
    const url = await freshDatabase(t);
    const place = url === null ? null : await aPlace(t, { DATABASE_URL: url, BERTH_WARM_POOL: `${SIZE}` });
    if (url === null || place === null) return;
    const db = openDatabase(openPool({ url, poolSize: 2 }));
    const storage = postgresStorage(db);
    const invariants = new Invariants(url, engine.docker);
    const label = [`${INSTANCE_LABEL}=${await storage.repositories.installation.id()}`];
    // The installation has a volume of its own, with tools.
    const ofRows = [...label, DB_ID_LABEL];
    const states = async () =>
      (await storage.repositories.warmPool.list(randomUUID(), false)).map((one) => one.state);
    const counts = async () => ({
      containers: (await engine.docker.listContainers({ all: true, filters: { label } })).length,
      volumes: ((await engine.docker.listVolumes({ filters: { label: ofRows } })).Volumes ?? []).length,
    });
    await work(t, { place, engine, settled: (size) => poolOf(storage, size), invariants, states, counts });
    await invariants.close();
    await db.destroy();
  });
}

/** Starts one that kills itself; it may do so before it is ready. */
async function diesBySelf(t: Test, place: Place, point: string): Promise<void> {
  const started = await startService(t, dying(place, point), FAULTY).catch(() => null);
  if (started !== null && started.child.signalCode === null) {
    await new Promise((resolve) => started.child.once('exit', resolve));
  }
}

async function whileFilling(
  t: Test,
  { place, settled, invariants, states, counts }: Scene,
  point: string,
): Promise<void> {
  await diesBySelf(t, place, point);
  t.same(await states(), [point === 'pool after ready' ? 'ready' : 'making'], 'it died there');
  const second = await startService(t, place);
  await settled(SIZE);
  t.same(await counts(), { containers: SIZE, volumes: SIZE }, 'nothing is left of the first try');
  t.same(await invariants.violations(), []);
  await second.stop();
  const off = await startService(t, without(place));
  await settled(0);
  t.same(await counts(), { containers: 0, volumes: 0 }, 'off means off');
  await off.stop();
}

async function whileClaiming(
  t: Test,
  { place, settled, invariants, counts }: Scene,
  point: string,
): Promise<void> {
  const first = await startService(t, dying(place, point), FAULTY);
  const call = client(first.address, await signInAdmin(first));
  const [member] = await settled(SIZE);
  const ended = new Promise((resolve) => first.child.once('exit', resolve));
  await call('POST', '/api/containers', { name: 'dev', ...small }).catch(() => undefined);
  await ended;
  t.equal(first.child.signalCode, 'SIGKILL', 'it died there');

  const second = await startService(t, place);
  await invariants.settled();
  await settled(SIZE);
  t.same(await invariants.violations(), []);
  t.same(await counts(), { containers: 1 + SIZE, volumes: 1 + SIZE });
  const again = client(second.address, await signInAdmin(second));
  const { containers } = (await again('GET', '/api/containers')).body as { containers: object[] };
  t.match(
    containers,
    [{ db_id: member, status: 'running', resources: small }],
    'the create was carried to its end',
  );
  const command = [
    'sh',
    '-c',
    'cat /sys/fs/cgroup/memory/memory.limit_in_bytes || cat /sys/fs/cgroup/memory.max',
  ];
  const { body } = await again('POST', `/api/containers/${member}/exec`, { command });
  t.match(body, { stdout: `${small.memory_mb * 1024 * 1024}\n` }, 'with its limits');
  await again('DELETE', `/api/containers/${member}`);
  await second.stop();
  await (await offOf(t, place, settled)).stop();
}

async function whileEmptying(
  t: Test,
  { place, settled, states, counts }: Scene,
  point: string,
): Promise<void> {
  const first = await startService(t, place);
  await settled(SIZE);
  await first.stop();
  await diesBySelf(t, without(place), point);
  t.same(await states(), ['removing'], 'it died there');
  const off = await offOf(t, place, settled);
  t.same(await counts(), { containers: 0, volumes: 0 });
  await off.stop();
}

async function offOf(t: Test, place: Place, settled: Scene['settled']) {
  const off = await startService(t, without(place));
  await settled(0);
  return off;
}
