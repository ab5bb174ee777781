/** A running container on its cores, which are numbers of the machine's. */
export type CoreUse = {
  readonly id: string;
  /** How many cores its limit fills. */
  readonly need: number;
  readonly cores: readonly number[];
  /** Its use of late. */
  readonly busyMillicores: number;
};

/** Idle containers spread as well. */
const IDLE_MILLICORES = 20;
/** A container that moves loses its caches, so a small difference is left alone. */
const WORTH_MILLICORES = 50;

/** The cores that a limit fills, rounded up, as `nproc` shows them; at most the machine's. */
export const coresFor = (cpuMillicores: number, machineCores: number): number =>
  Math.max(1, Math.min(machineCores, Math.ceil(cpuMillicores / 1000)));

/**
 * New cores for the containers that should move: those with a wrong number of cores, and those that share busy cores
 * while others of the machine are less busy.
 */
export function spreadCores(
  uses: readonly CoreUse[],
  machine: readonly number[],
): ReadonlyMap<string, readonly number[]> {
  const load = new Map(machine.map((core) => [core, 0]));
  const loadOf = (core: number): number => load.get(core) ?? Number.POSITIVE_INFINITY;
  const peak = (cores: readonly number[]): number => Math.max(...cores.map(loadOf));
  const moves = new Map<string, readonly number[]>();
  for (const { id, need, cores, busyMillicores } of uses.toSorted(byUse)) {
    const isOn = (core: number): number => (cores.includes(core) ? 0 : 1);
    const best = machine
      .toSorted((a, b) => loadOf(a) - loadOf(b) || isOn(a) - isOn(b) || a - b)
      .slice(0, need)
      .toSorted((a, b) => a - b);
    const stays = cores.length === best.length && peak(cores) - peak(best) <= WORTH_MILLICORES;
    if (!stays) moves.set(id, best);
    const share = Math.max(IDLE_MILLICORES, busyMillicores / best.length);
    for (const core of stays ? cores : best) load.set(core, loadOf(core) + share);
  }
  return moves;
}

const byUse = (a: CoreUse, b: CoreUse): number =>
  b.busyMillicores - a.busyMillicores || (a.id < b.id ? -1 : 1);
