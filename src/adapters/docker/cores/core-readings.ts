import { readFileSync } from 'node:fs';
import { type CoreUse, coresFor } from '../../../domain/containers/cores/cores.ts';
import { containerGroups, parentFolders } from '../host/container-groups.ts';
import { readText } from '../host/host-commands.ts';

/** Of one container: the limit's cores, the cores it may use, and its processor time since its start. */
type Reading = { readonly need: number; readonly cores: readonly number[]; readonly usedMs: number };

/**
 * The cores that an installation's containers may use now: those of the machine that the containers' parent group has.
 * With control groups of version 1 the group does not get a core back that was offline.
 */
export function usableCores(instanceId: string): readonly number[] {
  const root = '/sys/fs/cgroup';
  const machine = firstCores([...coreFiles(`${root}/cpuset`), ...coreFiles(root), ONLINE]);
  const parent = firstCores(parentFolders('cpuset', instanceId).flatMap(coreFiles));
  return common(machine, parent);
}

const ONLINE = '/sys/devices/system/cpu/online';

/** Those of both; those of the first when they have none in common. */
export function common(cores: readonly number[], others: readonly number[]): readonly number[] {
  const both = cores.filter((core) => others.includes(core));
  return both.length === 0 ? cores : both;
}

const coreFiles = (group: string): readonly string[] =>
  ['cpuset.effective_cpus', 'cpuset.cpus.effective', 'cpuset.cpus'].map((name) => `${group}/${name}`);

const firstCores = (files: readonly string[]): readonly number[] =>
  files.map((file) => coresIn(textNow(file))).find((cores) => cores.length > 0) ?? [];

/** At once, as options of a container are made without waiting; the kernel's files are in memory. */
function textNow(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The numbers in a list of the kernel such as `0-2,5`. */
export const coresIn = (list: string): readonly number[] =>
  [...list.matchAll(/(\d+)(?:-(\d+))?/g)].flatMap(([, first = '', last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index),
  );

/** Reads the containers' use of cores; each is measured since the reading before. */
export function coreReader(instanceId: string): (machine: number) => Promise<readonly CoreUse[]> {
  let known = new Map<string, { readonly usedMs: number; readonly atMs: number }>();
  return async (machine) => {
    const [sets, quotas, times] = await Promise.all(
      ['cpuset', 'cpu', 'cpuacct'].map((controller) => foldersOf(controller, instanceId)),
    );
    const before = known;
    known = new Map();
    const uses: CoreUse[] = [];
    for (const [id, set] of sets ?? []) {
      const reading = await readOne(set, quotas?.get(id) ?? set, times?.get(id) ?? set, machine);
      if (reading === null) continue;
      const { need, cores, usedMs } = reading;
      const last = before.get(id);
      const atMs = performance.now();
      known.set(id, { usedMs, atMs });
      const since = last === undefined ? 0 : (usedMs - last.usedMs) / (atMs - last.atMs);
      uses.push({ id, need, cores, busyMillicores: Math.max(0, since * 1000) });
    }
    return uses;
  };
}

const foldersOf = async (controller: string, instanceId: string): Promise<ReadonlyMap<string, string>> =>
  new Map(
    ((await containerGroups(controller, instanceId)) ?? []).map(({ runtimeId, folder }) => [
      runtimeId,
      folder,
    ]),
  );

/** Null when the container has ended meanwhile, or has no limit. */
async function readOne(set: string, quota: string, times: string, machine: number): Promise<Reading | null> {
  const [cores, procs, max, limit, period, nanoseconds, stat] = await Promise.all([
    ...[`${set}/cpuset.cpus`, `${set}/cgroup.procs`, `${quota}/cpu.max`].map(readText),
    ...[`${quota}/cpu.cfs_quota_us`, `${quota}/cpu.cfs_period_us`].map(readText),
    ...[`${times}/cpuacct.usage`, `${times}/cpu.stat`].map(readText),
  ]);
  const [ofLimit, ofPeriod] = max?.split(' ') ?? [limit, period];
  const millicores = (Number(ofLimit) / Number(ofPeriod)) * 1000;
  if (cores == null || !procs?.trim() || !(millicores > 0)) return null;
  const microseconds = Number(/^usage_usec (\d+)$/m.exec(stat ?? '')?.[1] ?? 0);
  const usedMs = nanoseconds == null ? microseconds / 1000 : Number(nanoseconds) / 1e6;
  return { need: coresFor(Math.round(millicores), machine), cores: coresIn(cores), usedMs };
}
