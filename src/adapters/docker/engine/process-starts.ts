import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { pollUntil } from '../../../concurrency/poll.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';

/** A start that was answered ends soon after. */
const ENDS = { withinMs: 30_000, everyMs: 50 };

/** Whether the process of an exec has started, or the exec has ended. */
export type HasStarted = (exec: Docker.Exec) => Promise<boolean>;

/**
 * Keeps pauses and starts of processes in a container apart. A process that is frozen while it starts never finishes
 * that; the engine then blocks each call that needs the container, `unpause` too, for ever.
 */
export function processStarts(hasStarted: HasStarted) {
  const starting = new Map<string, Set<Promise<unknown>>>();
  const pausing = new Map<string, Promise<unknown>>();
  const open = new Map<string, Set<Docker.Exec>>();

  return {
    /** Starts a process, after a pause that is being made. */
    async start<T>(runtimeId: string, work: () => Promise<T>): Promise<T> {
      while (pausing.has(runtimeId)) await pausing.get(runtimeId);
      const started = work();
      return await among(starting, runtimeId, started, started);
    },

    /** The engine has answered the start, which may still be going on. */
    answered(runtimeId: string, exec: Docker.Exec, stream: Duplex): void {
      const closed = new Promise<void>((resolve) => void stream.once('close', resolve));
      void among(open, runtimeId, exec, closed);
    },

    /** Pauses a container once no process is starting in it. Throws when a start does not end. */
    async pause<T>(runtimeId: string, work: () => Promise<T>): Promise<T> {
      const paused = Promise.withResolvers<void>();
      pausing.set(runtimeId, paused.promise);
      try {
        await Promise.allSettled(starting.get(runtimeId) ?? []);
        const execs = [...(open.get(runtimeId) ?? [])];
        const ended = await Promise.all(execs.map((exec) => pollUntil(() => hasStarted(exec), ENDS)));
        if (ended.includes(false)) throw new RuntimeFailure('it cannot be paused: a process does not start');
        return await work();
      } finally {
        pausing.delete(runtimeId);
        paused.resolve();
      }
    },
  };
}

/** Has the item in the set of the key until `until` settles; returns its outcome. */
async function among<I, T>(sets: Map<string, Set<I>>, key: string, item: I, until: Promise<T>): Promise<T> {
  const items = sets.get(key) ?? new Set();
  sets.set(key, items.add(item));
  return await until.finally(() => {
    items.delete(item);
    if (items.size === 0) sets.delete(key);
  });
}
