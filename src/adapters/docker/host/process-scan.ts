import { readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { QUEUES } from '../kernel/message-queues.ts';

/** Descriptors read before others get a turn: about a millisecond. */
const SLICE = 200;
/** A pipe has 16 pages of 4 KiB unless changed (pipe(7)). */
const PAGES_OF_A_PIPE = 16;

/** The open files of one container's processes, as far as read. */
export type Seen = {
  readonly inFlight: number;
  readonly inotify: number;
  readonly terminals: number;
  readonly pipePages: number;
  readonly pendingSignals: number;
  readonly sockets: ReadonlySet<string>;
  /** Unlinked message queues: a path to each, by inode. */
  readonly queues: ReadonlyMap<number, string>;
  /** Processes not read for lack of time. */
  readonly unseen: number;
};

/** Descriptors that may still be read. */
export type Budget = { left: number };

/** A queue is in the root of a file system of its own. */
const NAMELESS = /^\/[^/]+ \(deleted\)$/;

const tried = <T>(read: () => T, otherwise: T): T => {
  try {
    return read();
  } catch {
    // the process has ended, or closed the file
    return otherwise;
  }
};

/**
 * Reads processes' open files in /proc until the budget is used up. Shared ones, as after a fork, count once where they
 * have their own inode. Descriptors in flight are known from Linux 5.17 on (`scm_fds`).
 */
export async function scanProcesses(pids: readonly number[], budget: Budget): Promise<Seen> {
  const sockets = new Set<string>();
  const pipes = new Set<string>();
  const signals = new Map<string, number>();
  const queues = new Map<number, string>();
  let [inFlight, inotify, terminals, unseen] = [0, 0, 0, 0];
  let untilTurn = SLICE;

  const file = (pid: number, fd: string): void => {
    const link = tried(() => readlinkSync(`/proc/${pid}/fd/${fd}`), '');
    if (link.startsWith('socket:')) {
      if (sockets.has(link)) return;
      sockets.add(link);
      const info = tried(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1'), '');
      inFlight += Number(/^scm_fds:\s*(\d+)/m.exec(info)?.[1] ?? 0);
    } else if (link.startsWith('pipe:')) pipes.add(link);
    else if (link === 'anon_inode:inotify') inotify += 1;
    else if (link.endsWith('/ptmx')) terminals += 1;
    else if (NAMELESS.test(link)) {
      const path = `/proc/${pid}/fd/${fd}`;
      if (tried(() => statfsSync(path).type, 0) === QUEUES)
        queues.set(
          tried(() => statSync(path).ino, 0),
          path,
        );
    }
  };
  const status = (pid: number): void => {
    const text = tried(() => readFileSync(`/proc/${pid}/status`, 'latin1'), '');
    const user = /^Uid:\s*(\d+)/m.exec(text)?.[1];
    const pending = Number(/^SigQ:\s*(\d+)/m.exec(text)?.[1] ?? 0);
    if (user !== undefined) signals.set(user, Math.max(pending, signals.get(user) ?? 0));
  };
  for (const pid of pids) {
    if (budget.left <= 0) {
      unseen += 1;
      continue;
    }
    status(pid);
    for (const fd of tried(() => readdirSync(`/proc/${pid}/fd`), [])) {
      file(pid, fd);
      budget.left -= 1;
      untilTurn -= 1;
      if (untilTurn > 0) continue;
      untilTurn = SLICE;
      await turn();
    }
  }
  const pendingSignals = [...signals.values()].reduce((sum, count) => sum + count, 0);
  const pipePages = pipes.size * PAGES_OF_A_PIPE;
  return { inFlight, inotify, terminals, pipePages, pendingSignals, sockets, queues, unseen };
}
