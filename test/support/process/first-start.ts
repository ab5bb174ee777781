import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { bridgeName, chainName } from '../../../src/adapters/docker/engine/engine-names.ts';
import { processes, run } from '../../../src/adapters/docker/host/host-commands.ts';
import { layoutOf } from '../../../src/adapters/docker/private-engine/private-engine-paths.ts';
import { lockDataDir } from '../../../src/adapters/filesystem/data-dir-lock.ts';
import { outsideOfTap } from '../child.ts';
import { noEngineOfOurOwn } from '../engine/engine.ts';
import { client, signInAdmin, startService } from './running-service.ts';

/** Moments of a first start to stop at; by default only those that it announces. */
const MOMENTS = Number(process.env['STOP_MOMENTS'] ?? 0);
const STEP_MS = 1_600;
const SERVER = path.resolve('dist/app/main/bin/server.js');

type Moment = { readonly name: string; isNow(dataDir: string, output: string, ms: number): boolean };

const TOLD = {
  database: {
    name: 'it makes the database',
    isNow: (dataDir) => existsSync(path.join(dataDir, 'postgres/pgdata.new')),
  },
  engine: {
    name: 'it starts the engine',
    isNow: (_, output) => /private container engine/.test(output),
  },
  image: {
    name: 'it builds the image',
    isNow: (_, output) => /building the base image: (?!starting)/i.test(output),
  },
} as const satisfies Record<string, Moment>;

const timed = (n: number): Moment => ({
  name: `${300 + n * STEP_MS} ms`,
  isNow: (_dataDir, _output, ms) => ms >= 300 + n * STEP_MS,
});

/** A data folder and settings for a service that starts everything itself. */
function aFreshInstallation(t: Test) {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'berth-first-'));
  const temporary = path.join(dataDir, 'tmp');
  mkdirSync(temporary, { mode: 0o755 });
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const { DOCKER_HOST: _, DATABASE_URL: __, ...inherited } = process.env;
  const own = { BERTH_DATA_DIR: dataDir, BERTH_PORT: '0', TMPDIR: temporary, BERTH_DISK_QUOTA: 'soft' };
  return { dataDir, temporary, env: { ...inherited, ...own } };
}

/** Begins a first start, and sends SIGTERM at that moment. */
async function stopAt(installation: ReturnType<typeof aFreshInstallation>, { isNow }: Moment) {
  const [program, args] = outsideOfTap(process.execPath, [SERVER]);
  const child = spawn(program, args, { env: installation.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const startedAt = performance.now();
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const ended = once(child, 'close');
  while (!isNow(installation.dataDir, output, performance.now() - startedAt) && child.exitCode === null)
    await sleep(10);
  const toldAt = performance.now();
  child.kill('SIGTERM');
  const [code, signal] = await ended;
  return { code, signal, output, ms: Math.round(performance.now() - toldAt) };
}

/** What remains of a data folder's service. */
async function leftOf({
  dataDir,
  temporary,
}: ReturnType<typeof aFreshInstallation>): Promise<readonly string[]> {
  const at = layoutOf(dataDir);
  const isOurs = (text: string): boolean => text.includes(dataDir) || text.includes(at.hash);
  const left = (await processes())
    .filter(({ pid, argv }) => isOurs([...argv, environmentOf(pid)].join(' ')))
    .map(({ argv }) => `process ${argv.slice(0, 3).join(' ')}`);
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(isOurs);
  const loops = (await run('losetup', ['-n', '-O', 'BACK-FILE'])).stdout.split('\n').filter(isOurs);
  const instances = instancesOf(dataDir);
  const names = [at.bridge, ...instances.map(bridgeName)];
  const links = (await run('ip', ['-brief', 'link'])).stdout.split('\n');
  const bridges = links.filter((line) => names.some((name) => line.startsWith(`${name} `)));
  const rules = (await run('iptables-save', [])).stdout.split('\n');
  const own = rules.filter((rule) => instances.some((id) => rule.includes(chainName(id))));
  const files = readdirSync(temporary).filter((name) => name.startsWith('berth-image'));
  try {
    lockDataDir(dataDir).release();
  } catch (error) {
    left.push(String(error));
  }
  return [
    ...left,
    ...mounts,
    ...loops,
    ...bridges,
    ...own,
    ...files,
    ...(existsSync(at.run) ? [at.run] : []),
  ];
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

/** Installations with a network made by the data folder's engine. */
function instancesOf(dataDir: string): readonly string[] {
  const { pool, storage } = layoutOf(dataDir);
  const file = 'network/files/local-kv.db';
  const text = existsSync(pool) ? readFromImage(pool, file) : readIfThere(path.join(storage, file));
  return [...new Set([...text.matchAll(/"berth\.instance":"([^"]+)"/g)].map((match) => match[1] ?? ''))];
}

/** A file of an unmounted ext4 image; '' if missing. */
const readFromImage = (image: string, file: string): string =>
  execFileSync('debugfs', ['-R', `cat /${file}`, image], {
    encoding: 'latin1',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

const readIfThere = (file: string): string => (existsSync(file) ? readFileSync(file, 'latin1') : '');

/** A service stopped at each of these moments of its first start leaves nothing. */
export async function leavesNothing(t: Test, told: readonly (keyof typeof TOLD)[]): Promise<void> {
  const reason = await noEngineOfOurOwn();
  if (reason !== null) {
    if (process.env['REQUIRE_ALL'] === '1') t.fail(reason);
    else t.pass('engine', { skip: reason });
    return;
  }
  const moments =
    MOMENTS > 0 ? Array.from({ length: MOMENTS }, (_, n) => timed(n)) : told.map((one) => TOLD[one]);
  for (const moment of moments) {
    const installation = aFreshInstallation(t);
    const { code, signal, output, ms } = await stopAt(installation, moment);
    const said = output.trim().split('\n').at(-2) ?? '';
    t.comment(`${moment.name}: ${code ?? signal} after ${ms} ms (${said})`);
    // Before it handles signals there is nothing to stop.
    t.ok(
      code === 0 || (signal === 'SIGTERM' && output === ''),
      `${moment.name}: ${code ?? signal}\n${output}`,
    );
    t.notMatch(output, /Berth is ready/, `${moment.name}: it does not finish the start first`);
    t.same(await leftOf(installation), [], `${moment.name}: nothing is left`);
    if (MOMENTS === 0 || moment !== moments.at(-1)) continue;
    const running = await startService(t, installation);
    const ready = await client(running.address, await signInAdmin(running))('GET', '/readyz');
    t.match(ready.body, { parts: { engine: { status: 'ready' }, image: { status: 'ready' } } });
    t.equal(await running.stop(), 0);
    t.same(await leftOf(installation), [], 'nothing is left of the whole start');
  }
}
