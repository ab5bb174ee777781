/** Processor time that processes have used, in all their threads: it does not depend on other load. */
import { readdirSync, readFileSync } from 'node:fs';

const MS_PER_TICK = 10;

/** Milliseconds so far. */
export function usedMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name, in brackets, may have spaces.
  const [, , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(user) + Number(system)) * MS_PER_TICK;
}

/** Milliseconds that its children used which have ended, such as connections of a database server. */
export function endedUsedMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const [, , , , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(user) + Number(system)) * MS_PER_TICK;
}

/** Milliseconds so far, with those of the programs that it started and that still run. */
export const treeUsedMs = (pid: number): number =>
  childrenOf(pid).reduce((sum, child) => sum + unlessGone(() => treeUsedMs(child), 0), usedMs(pid));

const childrenOf = (pid: number): readonly number[] =>
  unlessGone(() => readdirSync(`/proc/${pid}/task`), []).flatMap((thread) => {
    const file = `/proc/${pid}/task/${thread}/children`;
    const pids = unlessGone(() => readFileSync(file, 'latin1'), '').split(' ');
    return pids.filter((text) => text.trim() !== '').map(Number);
  });

/** A process or thread may end while it is read. */
function unlessGone<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return otherwise;
    throw error;
  }
}

/** Elapsed time of the work, and the processor time that each named source used, in ms. */
export async function spent<Name extends string>(
  usedMs: Readonly<Record<Name, () => number | Promise<number>>>,
  work: () => Promise<unknown>,
): Promise<Readonly<Record<Name | 'ms', number>>> {
  const names = Object.keys(usedMs) as Name[];
  const now = () => Promise.all(names.map(async (name) => await usedMs[name]()));
  const before = await now();
  const begunMs = performance.now();
  await work();
  const ms = performance.now() - begunMs;
  const each = (await now()).map((after, at) => [names[at], after - (before[at] ?? 0)]);
  return Object.fromEntries([...each, ['ms', ms]]);
}

/** The result of some work, and the milliseconds of processor time that these processes used for it. */
export async function counted<T>(pids: readonly number[], work: () => Promise<T>): Promise<[T, number]> {
  const total = (): number => pids.reduce((sum, pid) => sum + usedMs(pid), 0);
  const before = total();
  const done = await work();
  return [done, total() - before];
}
