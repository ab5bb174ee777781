import { readText } from './host-commands.ts';

/**
 * Limits of each process in a container, as the engine names them. Soft and hard are the same: the kernel compares what all
 * have in flight with the limit of the one who sends, so that nobody may have more than the rest.
 */
export type ProcessLimits = {
  /** Open files. Descriptors in flight over sockets are counted against it as well, over all containers (unix(7)). */
  readonly nofile: number;
  /** Signals that wait, and timers. */
  readonly sigpending: number;
  /** Bytes of POSIX message queues. */
  readonly msgqueue: number;
  /** Bytes that cannot be paged out. */
  readonly memlock: number;
};

type Row = { readonly title: string; readonly most: number; readonly share: number; readonly least: number };

/** What a user namespace has in all is its maker's limit: the share is what one container may have of it (setrlimit(2)). */
const ROWS: Readonly<Record<keyof ProcessLimits, Row>> = {
  nofile: { title: 'Max open files', most: 65_536, share: 1, least: 0 },
  sigpending: { title: 'Max pending signals', most: 4_096, share: 1 / 8, least: 256 },
  // A queue of the usual size takes 83 kB.
  msgqueue: { title: 'Max msgqueue size', most: 819_200, share: 1 / 8, least: 102_400 },
  memlock: { title: 'Max locked memory', most: 8 * 1024 * 1024, share: 1, least: 0 },
};

/** What a container's processes get on a machine with these limits (the text of /proc/self/limits); never above the hard ones. */
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

/** The same for this machine. */
export const processLimits = async (): Promise<ProcessLimits> =>
  processLimitsOf((await readText('/proc/self/limits')) ?? '');
