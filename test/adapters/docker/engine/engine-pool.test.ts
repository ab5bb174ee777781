import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { followToEnd } from '../../../../src/adapters/docker/engine/engine-progress.ts';
import { missingEnginePackages } from '../../../../src/adapters/docker/engine/host-packages.ts';
import { run } from '../../../../src/adapters/docker/host/host-commands.ts';
import { poolBytes } from '../../../../src/adapters/docker/private-engine/engine-pool.ts';
import {
  openEngine,
  type RunningEngine,
} from '../../../../src/adapters/docker/private-engine/open-engine.ts';
import { findDaemon } from '../../../../src/adapters/docker/private-engine/private-engine.ts';
import {
  type Layout,
  layoutOf,
} from '../../../../src/adapters/docker/private-engine/private-engine-paths.ts';
import { isBound } from '../../../support/engine/host.ts';
import { noEngineOfOurOwn } from '../../../support/engine/own-engine.ts';
import { silentLog } from '../../../support/silent-log.ts';

const MIB = 1024 * 1024;

t.test('half of the room above the floor is for the engine, and small steps are left out', async (t) => {
  const cases: [usableMb: number, haveMb: number, wantedMb: number][] = [
    [40_000, 0, 20_000],
    [100, 0, 1024],
    [-100, 0, 1024],
    [40_000, 18_000, 18_000],
    [40_000, 16_000, 20_000],
    [1_000, 20_000, 20_000],
  ];
  for (const [usableMb, haveMb, wantedMb] of cases)
    t.equal(poolBytes(usableMb * MIB, haveMb * MIB), wantedMb * MIB, `${usableMb} ${haveMb}`);
});

async function aFolder(t: Test): Promise<{ dataDir: string; at: Layout }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-pool-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  return { dataDir, at: layoutOf(dataDir) };
}

const open = (dataDir: string, poolMb: number) =>
  openEngine({ dataDir, mode: 'auto', dockerHost: null, poolMb, progress: () => {}, log: silentLog });

async function opened(t: Test, dataDir: string, poolMb: number): Promise<RunningEngine> {
  const engine = await open(dataDir, poolMb);
  if (engine.kind === 'none') throw new Error(engine.mend);
  t.teardown(() => engine.stop());
  return engine;
}

const totalMb = async ({ dataRoot }: Layout): Promise<number> => {
  const { blocks, bsize } = await statfs(dataRoot);
  return (blocks * bsize) / MIB;
};

const devices = async ({ pool }: Layout): Promise<string> => (await run('losetup', ['-j', pool])).stdout;

async function growing(t: Test): Promise<void> {
  const { dataDir, at } = await aFolder(t);
  const first = await opened(t, dataDir, 300);
  t.equal(first.poolFault, null);
  const small = await totalMb(at);
  t.ok(small > 200 && small <= 300, `${small} MB`);
  t.not(await isBound(at.pool), false, 'who writes much delays nobody else for long');
  const empty = Readable.from([Buffer.alloc(1024)]);
  await followToEnd(await first.docker.importImage(empty, { repo: 'kept', tag: 'latest' }), () => {});
  const joined = await opened(t, dataDir, 300);
  t.equal(joined.poolFault, null, 'found by who joins');
  await first.stop();
  t.equal(await devices(at), '', 'no device is left');

  const second = await opened(t, dataDir, 600);
  const large = await totalMb(at);
  t.ok(large > 450 && large <= 600, `${large} MB`);
  t.match(await second.docker.getImage('kept').inspect(), { RepoTags: ['kept:latest'] });
  await second.stop();

  const third = await opened(t, dataDir, 300);
  t.equal(await totalMb(at), large, 'it does not shrink');
  await third.stop();
}

async function olderData(t: Test): Promise<void> {
  const { dataDir, at } = await aFolder(t);
  await mkdir(join(at.storage, 'older'), { recursive: true });
  const engine = await opened(t, dataDir, 300);
  t.match(engine.poolFault, /older than this option/);
  t.notOk(existsSync(at.pool));
  t.ok(existsSync(join(at.dataRoot, 'older')));
  await engine.stop();
}

async function damaged(t: Test): Promise<void> {
  const { dataDir, at } = await aFolder(t);
  await mkdir(at.home, { recursive: true });
  await writeFile(at.pool, Buffer.alloc(MIB, 'x'));
  t.match(await open(dataDir, 300), { kind: 'none', mend: /pool\.img/ });
  t.equal(await findDaemon(at), null);
  t.equal(await devices(at), '');
}

const reason = (await noEngineOfOurOwn()) ?? ((await missingEnginePackages()).join(', ') || null);
if (reason !== null) t.pass('a private engine', { skip: reason });
else {
  await t.test('the data of an engine is on a file system of its own, which grows', growing);
  await t.test('an engine that has data already keeps it where it is, and says so', olderData);
  await t.test('an engine whose file system is damaged is not started empty', damaged);
}
