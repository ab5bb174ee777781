/** Processor time that processes have used, in all their threads: what does not depend on who else is on the machine. */
import { readFileSync } from 'node:fs';

const MS_PER_TICK = 10;

function usedMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may hold anything.
  const [, , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(user) + Number(system)) * MS_PER_TICK;
}

/** What a piece of work answers, and the milliseconds of processor that these processes used meanwhile. */
export async function counted<T>(pids: readonly number[], work: () => Promise<T>): Promise<[T, number]> {
  const total = (): number => pids.reduce((sum, pid) => sum + usedMs(pid), 0);
  const before = total();
  const done = await work();
  return [done, total() - before];
}
