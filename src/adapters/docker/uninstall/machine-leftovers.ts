import { readdir, rm } from 'node:fs/promises';
import {
  clusterBeside,
  nameOfEngine,
  type Recorded,
  type RecordedElsewhere,
  readRecords,
} from '../../engine-record.ts';
import { bridgeName } from '../engine/engine-names.ts';
import { mountsBelow, processes, readText, removeCgroups, run } from '../host/host-commands.ts';
import { removeFirewall, rulesLeftOn } from '../network/firewall.ts';
import { removeLink } from '../network/host-network.ts';
import { layoutOf } from '../private-engine/private-engine-paths.ts';
import { clearPrivateEngine } from '../private-engine/private-engine-stop.ts';
import { mountsOf } from '../volumes/choose-quota.ts';

/** The user that dockerd makes for the user namespaces of its containers. */
const REMAP_USER = 'dockremap';
/** Of the packages that Berth installs where they are missing, those that the system itself never needs. */
const PACKAGES = ['docker.io', 'containerd', 'runc', 'lxcfs', 'mmdebstrap'];

/** Stops a private engine that still runs, and removes its mounts, bridge and temporary files. */
export const removePrivateEngine = (dataDir: string): Promise<void> => clearPrivateEngine(layoutOf(dataDir));

/**
 * Removes an installation's bridge, packet filter rules, control groups and mounts. Needs root. Returns in sentences what
 * may stay.
 */
export async function removeFromMachine(instanceId: string): Promise<readonly string[]> {
  await removeLink(bridgeName(instanceId));
  const left = await removeFirewall(instanceId).then(
    () => [],
    (error: unknown) => [rulesLeftOn('this machine', instanceId, error)],
  );
  await removeCgroups(instanceId);
  const mounts = mountsOf(instanceId);
  for (const mount of (await mountsBelow(mounts)).toReversed()) await run('umount', ['--lazy', mount]);
  if ((await mountsBelow(mounts)).length === 0) await rm(mounts, { recursive: true, force: true });
  return left;
}

/** Whether this installation's private engine had user namespaces, so that dockerd has made their user. */
export async function hasRemapUser(dataDir: string): Promise<boolean> {
  const records = await readRecords(layoutOf(dataDir));
  const users = (await readText('/etc/passwd')) ?? '';
  const wasRemapped = records.some((each) => each.kind === 'private' && each.remap);
  return wasRemapped && new RegExp(`^${REMAP_USER}:`, 'm').test(users);
}

/** Removes the user and its id ranges. False when another engine uses them. */
export async function removeRemapUser(): Promise<boolean> {
  const isRemapping = (args: readonly string[]): boolean =>
    args.some((arg) => arg.startsWith('--userns-remap'));
  const running = (await processes()).some(({ argv }) => isRemapping(argv));
  const configured = ((await readText('/etc/docker/daemon.json')) ?? '').includes('userns-remap');
  if (running || configured) return false;
  await run('userdel', [REMAP_USER]);
  return true;
}

/** The installed ones of the packages that Berth may have added. */
export async function installedPackages(): Promise<readonly string[]> {
  const { stdout } = await run('dpkg', ['--get-selections', ...PACKAGES]);
  return [...stdout.matchAll(/^(\S+?)(?::\S+)?\s+install$/gm)].map(([, name = '']) => name);
}

/** Values of BERTH_ENGINE without a cluster. */
const DOCKER_ENGINES: readonly string[] = ['auto', 'external'];

/** Why this BERTH_ENGINE is not that of the engines that the installation has used; null when it is. */
export function otherEngine(dataDir: string, records: readonly Recorded[], engine: string): string | null {
  const at = layoutOf(dataDir);
  const cluster = clusterBeside(records, engine);
  if (cluster !== undefined)
    return `the containers are in the engine at ${cluster.endpoint}: set BERTH_ENGINE=${cluster.kind}, and give the service's other settings, or ${forgetHint(cluster)}`;
  const [first] = records;
  if (first === undefined || [...DOCKER_ENGINES, ...records.map(({ kind }) => kind)].includes(engine))
    return null;
  const where =
    first.kind === 'private' ? `the private engine in ${at.home}` : `the engine at ${first.endpoint}`;
  return `the containers are in ${where}: unset BERTH_ENGINE, or start Berth with it when they are there, too`;
}

/** The advice to skip an engine that is gone for good. */
export const forgetHint = (record: RecordedElsewhere): string =>
  `if it is gone for good, repeat with --forget-engine ${nameOfEngine(record)}`;

/** Whether the installation has begun to use an engine, where something of it may be left. */
export const hasUsedEngine = async (dataDir: string): Promise<boolean> =>
  (await readRecords(layoutOf(dataDir))).length > 0;

/** Whether a folder is a data folder of Berth, by a file that only these have; or the end of a removed one. */
export async function isDataFolder(dataDir: string): Promise<boolean> {
  const names: readonly string[] = await readdir(dataDir).catch(() => []);
  if (names.length === 1 && names[0] === 'lock') return true;
  return ['lock', 'replica'].every((name) => names.includes(name));
}
