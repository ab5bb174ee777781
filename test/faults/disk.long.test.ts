import { mkdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, statfs } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { runOrThrow } from '../../src/adapters/docker/host/host-commands.ts';
import { embeddedUrlOf, queryText } from '../support/database/database.ts';
import { bothEnginesOrSkip, openOwn, stockWithImage } from '../support/engine/engine.ts';
import { aFolder } from '../support/folder.ts';
import {
  aContainerWithCanary,
  type Call,
  eventually,
  inside,
  isReady,
  large,
  partState,
  readCanary,
  small,
} from '../support/process/fault-scene.ts';
import { Invariants } from '../support/process/invariants.ts';
import { client, type Installation, signInAdmin, startService } from '../support/process/running-service.ts';

const SIZE_MB = 3_000;

/** A data folder on its own disk: a file with a file system. */
async function aSmallDisk(t: Test): Promise<string> {
  const folder = aFolder(t);
  const image = path.join(folder, 'disk.img');
  const mounted = path.join(folder, 'disk');
  mkdirSync(mounted);
  await runOrThrow('truncate', ['--size', `${SIZE_MB}M`, image]);
  await runOrThrow('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
  await runOrThrow('mount', ['-o', 'loop', image, mounted]);
  t.teardown(() => runOrThrow('umount', ['--lazy', mounted]));
  const dataDir = path.join(mounted, 'berth');
  mkdirSync(dataDir);
  return dataDir;
}

/** Takes all free space; returns the function that frees it. */
async function fill(dataDir: string): Promise<() => void> {
  const file = path.join(path.dirname(dataDir), 'filler');
  const handle = await open(file, 'w');
  for (const size of [1024 * 1024, 4096]) {
    const block = Buffer.alloc(size);
    const { code } = await writeAll(handle, block).catch((error: NodeJS.ErrnoException) => error);
    if (code !== 'ENOSPC') throw new Error(`filling the disk ended with ${code}`);
  }
  await handle.close();
  return () => rmSync(file);
}

async function writeAll(handle: FileHandle, block: Buffer): Promise<never> {
  for (;;) await handle.write(block);
}

/** Writes until the service refuses; returns the acknowledged names. */
async function writeUntilRefused(call: Call): Promise<{ names: string[]; refusals: number[] }> {
  const names: string[] = [];
  const refusals: number[] = [];
  for (let i = 0; i < 60 && refusals.length < 3; i++) {
    const { status } = await call('POST', '/api/tokens', { name: `token-${i}` });
    if (status === 201) names.push(`token-${i}`);
    else refusals.push(status);
  }
  return { names, refusals };
}

const tokenNames = async (call: Call): Promise<string[]> => {
  const { body } = await call('GET', '/api/tokens');
  return (body as { tokens: { name: string }[] }).tokens.map(({ name }) => name);
};

t.setTimeout(600_000);
t.test('a full disk fails writes and ends nothing', { timeout: 600_000 }, async (t) => {
  const shared = await bothEnginesOrSkip(t);
  if (shared === null) return;
  const dataDir = await aSmallDisk(t);
  const installation: Installation = {
    dataDir,
    env: { BERTH_DATA_DIR: dataDir, BERTH_PORT: '0', BERTH_ENGINE: 'auto' },
  };
  await stockWithImage(shared, dataDir);
  const running = await startService(t, installation);
  const call = client(running.address, await signInAdmin(running));
  const { dbId } = await aContainerWithCanary(call);

  const url = await embeddedUrlOf(dataDir);
  const free = await fill(dataDir);
  t.ok((await statfs(dataDir)).bavail < 1024, 'hardly a block is free');
  // The database's preallocated log is used up: the next write needs space.
  for (let i = 0; i < 4; i++) await queryText(url, 'select pg_switch_wal()').catch(() => undefined);
  const { names, refusals } = await writeUntilRefused(call);
  t.comment(`${names.length} writes were acknowledged, then ${refusals}`);
  t.ok(refusals.length > 0, 'the database has no room any more');
  const others = [
    await call('PATCH', `/api/containers/${dbId}`, { name: 'renamed', ...large }),
    await call('POST', '/api/containers', { name: 'another', ...small }),
    await call('POST', `/api/containers/${dbId}/stop`),
  ].map(({ status }) => status);
  t.same(
    [...refusals, ...others].filter((status) => ![200, 201, 409, 500, 503, 507].includes(status)),
    [],
    'a credential is never called a bad one',
  );
  t.match(String(await inside(call, dbId, 'echo x > /workspace/new || echo refused')), /./);
  t.equal((await call('GET', '/livez')).status, 200, 'the service lives');
  t.equal(running.child.exitCode, null);

  free();
  t.equal(await eventually(partState(call, 'database'), isReady), 'ready');
  t.equal(await eventually(partState(call, 'engine'), isReady), 'ready');
  const kept = await eventually(
    () => tokenNames(call).catch((): string[] => []),
    (found) => found.length > 0,
  );
  t.same(
    names.filter((name) => !kept.includes(name)),
    [],
    'every write that was acknowledged is there',
  );
  const { docker } = await openOwn(dataDir);
  const invariants = new Invariants(url, docker);
  await invariants.settled();
  t.same(await invariants.violations(), [], 'the invariants hold');
  await invariants.close();
  const started = await call('POST', `/api/containers/${dbId}/start`);
  t.equal(started.status, 200, 'and everything works again');
  t.equal(await readCanary(call, dbId), 'kept\n');
  t.equal((await call('POST', '/api/containers', { name: 'after', ...small })).status, 201);
  await running.stop();
});
