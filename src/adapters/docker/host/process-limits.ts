import { readText } from './host-commands.ts';

/**
 * Limits of each process in a container, named as by the engine. Soft and hard are equal: the kernel compares the total
 * in flight with the sender's limit, so no process may have a higher one.
 */
export type ProcessLimits = {
  /** Open files. Descriptors in flight over sockets count too, for all containers (unix(7)). */
  readonly nofile: number;
  /** Queued signals, and timers. */
  readonly sigpending: number;
  readonly msgqueue: number;
  /** Locked memory. */
  readonly memlock: number;
};

type Row = { readonly title: string; readonly most: number; readonly share: number; readonly least: number };

/** A user namespace has its creator's limit in all: `share` is one container's part of it (setrlimit(2)). */
const ROWS: Readonly<Record<keyof ProcessLimits, Row>> = {
  nofile: { title: 'Max open files', most: 65_536, share: 1, least: 0 },
  sigpending: { title: 'Max pending signals', most: 4_096, share: 1 / 8, least: 256 },
  // A queue of the usual size takes 83 kB.
  msgqueue: { title: 'Max msgqueue size', most: 819_200, share: 1 / 8, least: 102_400 },
  memlock: { title: 'Max locked memory', most: 8 * 1024 * 1024, share: 1, least: 0 },
};

/** A container's limits on a machine with these limits (the text of /proc/self/limits); never above the hard ones. */
export function processLimitsOf(limits: string): ProcessLimits {
  const one = (name: keyof ProcessLimits): number => {
    const { title, most, share, least } = ROWS[name];
    const hard = Number(new RegExp(`^${title}\\s+\\S+\\s+(\\d+)`, 'm').exec(limits)?.[1] ?? Infinity);
    return Math.min(most, hard, Math.max(least, Math.floor(hard * share)));
  };
  return {
    nofile: one('nofile'),
    sigpending: one('sigpending'),
    msgqueue: one('msgqueue'),
    memlock: one('memlock'),
  };
}

export const processLimits = async (): Promise<ProcessLimits> =>
  processLimitsOf((await readText('/proc/self/limits')) ?? '');
