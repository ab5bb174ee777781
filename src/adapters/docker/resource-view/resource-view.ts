import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type Docker from 'dockerode';
import { pollUntil } from '../../../concurrency/poll.ts';
import { programEnvironment, startChild } from '../../child-process.ts';
import { type InstallSettings, installPackages } from '../engine/host-packages.ts';
import {
  adminPath,
  lastLines,
  mountsBelow,
  processes,
  readText,
  run,
  signal,
  which,
} from '../host/host-commands.ts';
import { type Layout, layoutOf } from '../private-engine/private-engine-paths.ts';
import { PREPARE_VIEW, SUPERVISE_LXCFS } from './resource-view-scripts.ts';

/** `auto`: one of Berth's own beside a private engine. Else the folder of an lxcfs on the engine's machine. */
export type LxcfsSetting = 'auto' | 'off' | `/${string}`;

/** What programs in containers see of memory and cores. */
export type ResourceView = {
  /** For every new container. */
  readonly mounts: Docker.MountConfig;
  /** Why programs see the machine's memory and cores; null when they see their container's limits. */
  fault(): Promise<string | null>;
  /** Restores the view, and restarts the supervisor of Berth's own lxcfs, should it have ended. */
  supervise(): Promise<void>;
};

/** Files of the kernel about the machine that lxcfs replaces, by their path below the root. */
const FILES = [
  'proc/meminfo',
  'proc/cpuinfo',
  'proc/loadavg',
  'proc/stat',
  'proc/swaps',
  'proc/uptime',
  'sys/devices/system/cpu/online',
] as const;

const [FIRST] = FILES;
const END_WITHIN_MS = 5_000;

const files = (): readonly string[] => FILES.filter((file) => existsSync(`/${file}`));

const mountsFrom = (
  folder: string,
  names: readonly string[],
  Propagation: 'rslave' | 'rprivate',
): Docker.MountConfig =>
  names.map((file) => ({
    Type: 'bind',
    Source: join(folder, file),
    Target: `/${file}`,
    ReadOnly: true,
    BindOptions: { Propagation },
  }));

/**
 * The view of a private engine. Its files exist even without lxcfs, as containers that mount them could not start.
 * `waits`: for the installation of an absent lxcfs. Otherwise `supervise` starts it later.
 */
export async function openView(
  at: Layout,
  setting: LxcfsSetting,
  install: InstallSettings,
  waits: boolean,
): Promise<ResourceView> {
  const view = await ownFolder(at);
  let fault = await prepare(at, view);
  if (fault !== null) return noView(notMounted(fault));
  if (setting !== 'auto') return setting === 'off' ? noView('it is turned off') : viewFrom(setting, true);
  const installing = installLxcfs(install);
  if (waits) await installing;
  const supervise = async (): Promise<void> => {
    fault = (await isPrepared(at, view)) ? null : await prepare(at, view);
    if (fault !== null) return;
    if ((await isInstalled()) && !(await isSupervised(view))) await startSupervisor(view);
  };
  await supervise();
  return {
    mounts: viewMounts(view),
    fault: async () => (fault === null ? await viewFault(view) : notMounted(fault)),
    supervise,
  };
}

const notMounted = (fault: string): string => `its files cannot be mounted: ${fault}`;

const isInstalled = async (): Promise<boolean> => (await which('lxcfs')) !== null;

/** Installs an absent lxcfs. Never throws. */
export async function installLxcfs(install: InstallSettings): Promise<void> {
  if (await isInstalled()) return;
  await installPackages(['lxcfs'], install).catch((error: unknown) => {
    if (install.signal?.aborted !== true) install.log.warn(`lxcfs: ${String(error)}`);
  });
}

/** The mounts of containers of a private engine. */
export const viewMounts = (view: string): Docker.MountConfig =>
  mountsFrom(join(view, 'shown'), files(), 'rslave');

const recordOf = (at: Layout): string => join(at.home, 'view');

/**
 * The folder of an installation's view; null before its first start. Its id is random and stays when the data folder
 * moves: the containers have it, and no other installation does.
 */
export async function viewOf(at: Layout): Promise<string | null> {
  const id = (await readText(recordOf(at)))?.trim() ?? '';
  return /^[0-9a-f]+$/.test(id) ? `/run/berth-${id}-view` : null;
}

async function ownFolder(at: Layout): Promise<string> {
  const known = await viewOf(at);
  if (known !== null) return known;
  const id = randomBytes(4).toString('hex');
  const draft = `${recordOf(at)}.new`;
  await mkdir(at.home, { recursive: true, mode: 0o700 });
  await writeFile(draft, `${id}\n`, { mode: 0o600 });
  await rename(draft, recordOf(at));
  return await ownFolder(at);
}

/** Copies of a data folder have the same containers, so the same view: each has a file there with its path. */
const ownersOf = (view: string): string => join(view, 'owners');

/** Makes and claims the view. Returns the fault, or null. Never throws: the engine runs without a view too. */
async function prepare(at: Layout, view: string): Promise<string | null> {
  try {
    const { code, stderr } = await run('sh', ['-c', PREPARE_VIEW, 'berth', view, ...files()]);
    if (code !== 0) return lastLines(stderr, 1);
    await mkdir(ownersOf(view), { recursive: true, mode: 0o700 });
    await writeFile(join(ownersOf(view), at.hash), dirname(at.home), { mode: 0o600 });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function isPrepared(at: Layout, view: string): Promise<boolean> {
  const mounts = new Set(await mountsBelow(view));
  return (
    existsSync(join(ownersOf(view), at.hash)) &&
    files().every((file) => mounts.has(join(view, 'shown', file)))
  );
}

/** Whether another data folder still uses the view. One that was removed does not. */
async function hasOtherOwners(at: Layout, view: string): Promise<boolean> {
  const names: readonly string[] = await readdir(ownersOf(view)).catch(() => []);
  for (const name of names.filter((each) => each !== at.hash)) {
    const dataDir = await readText(join(ownersOf(view), name));
    if (dataDir !== null && (await viewOf(layoutOf(dataDir))) === view) return true;
  }
  return false;
}

export const noView = (fault: string): ResourceView => ({
  mounts: [],
  fault: async () => fault,
  supervise: async () => {},
});

/** The view of an lxcfs that the operator runs on the engine's machine. Its files are checked if that is this one. */
export function viewFrom(folder: string, isLocal: boolean): ResourceView {
  const names = FILES.filter((file) => !isLocal || existsSync(join(folder, file)));
  if (!names.includes(FIRST)) return noView(`no lxcfs is mounted at ${folder}`);
  return {
    mounts: mountsFrom(folder, names, 'rprivate'),
    fault: async () => null,
    supervise: async () => {},
  };
}

async function isSupervised(view: string): Promise<boolean> {
  const pid = ((await readText(join(view, 'pid'))) ?? '').trim();
  return pid !== '' && ((await readText(`/proc/${pid}/cmdline`)) ?? '').includes(`\0${view}\0`);
}

async function startSupervisor(view: string): Promise<void> {
  const child = await startChild('sh', ['-c', SUPERVISE_LXCFS, 'berth', view, ...files()], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
    env: { ...programEnvironment(), PATH: adminPath(), LC_ALL: 'C' },
  });
  child.unref();
}

/** Ends the supervisor and its lxcfs, and removes the mounts, once no container runs and no other data folder uses them. */
export async function endView(at: Layout): Promise<void> {
  const view = await viewOf(at);
  if (view === null) return;
  await rm(join(ownersOf(view), at.hash), { force: true });
  if (await hasOtherOwners(at, view)) return;
  const isOurs = (arg: string): boolean => arg === view || arg.startsWith(`${view}/`);
  const ours = async (): Promise<readonly number[]> =>
    (await processes()).filter(({ argv }) => argv.some(isOurs)).map(({ pid }) => pid);
  const areGone = async (): Promise<boolean> => {
    const pids = await ours();
    // Each with its process group, for the supervisor's short-lived programs.
    for (const pid of pids.flatMap((leader) => [-leader, leader])) signal(pid, 'SIGKILL');
    return pids.length === 0;
  };
  await pollUntil(areGone, { withinMs: END_WITHIN_MS });
  for (const path of (await mountsBelow(view)).toReversed()) await run('umount', ['--lazy', path]);
  if ((await mountsBelow(view)).length === 0) await rm(view, { recursive: true, force: true });
}

const isShown = async (view: string): Promise<boolean> => {
  const mounts = ((await readText('/proc/self/mountinfo')) ?? '').split('\n');
  const last = mounts.findLast((line) => line.split(' ')[4] === join(view, 'shown', FIRST));
  return last?.includes(' fuse.lxcfs ') === true;
};

/** Why containers of a private engine see the machine's memory and cores; null when they do not. */
export async function viewFault(view: string): Promise<string | null> {
  if (await isShown(view)) return null;
  if (!(await isInstalled())) return 'lxcfs is not installed';
  return `lxcfs does not run: ${lastLines((await readText(join(view, 'log'))) ?? '', 1)}`;
}
