import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
import { type Layout, viewPath } from '../private-engine/private-engine-paths.ts';
import { PREPARE_VIEW, SUPERVISE_LXCFS } from './resource-view-scripts.ts';

/** `auto`: one of Berth's own beside a private engine. Else the folder of an lxcfs on the engine's machine. */
export type LxcfsSetting = 'auto' | 'off' | `/${string}`;

/** What programs in containers see of memory and cores. */
export type ResourceView = {
  /** For every new container. */
  readonly mounts: Docker.MountConfig;
  /** Why programs see the machine's memory and cores; null when they see their container's limits. */
  fault(): Promise<string | null>;
  /** Restarts the supervisor of Berth's own lxcfs, should it have ended. */
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
  const prepared = await run('sh', ['-c', PREPARE_VIEW, 'berth', view, ...files()]);
  if (prepared.code !== 0) return noView(`its files cannot be mounted: ${lastLines(prepared.stderr, 1)}`);
  if (setting !== 'auto') return setting === 'off' ? noView('it is turned off') : viewFrom(setting, true);
  const installing = installLxcfs(install);
  if (waits) await installing;
  const supervise = async (): Promise<void> => {
    if ((await isInstalled()) && !(await isSupervised(view))) await startSupervisor(view);
  };
  await supervise();
  return { mounts: viewMounts(view), fault: () => viewFault(view), supervise };
}

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

/** The folder that the containers know: it stays the same when the data folder moves. */
async function folderOf(at: Layout): Promise<string> {
  const hash = (await readText(recordOf(at)))?.trim() ?? '';
  return /^[0-9a-f]+$/.test(hash) ? viewPath(hash) : at.view;
}

async function ownFolder(at: Layout): Promise<string> {
  await mkdir(at.home, { recursive: true, mode: 0o700 });
  await writeFile(recordOf(at), `${at.hash}\n`, { flag: 'wx', mode: 0o600 }).catch(() => {});
  return await folderOf(at);
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

/** Ends the supervisor and its lxcfs, and removes the mounts, once no container runs. */
export async function endView(at: Layout): Promise<void> {
  const view = await folderOf(at);
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
