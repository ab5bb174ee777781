import { pollUntil } from '../../../concurrency/poll.ts';
import { within } from '../../../concurrency/timeout.ts';
import { ContainerPaused, RuntimeFailure } from '../../../ports/containers/container-runtime.ts';

/** An exec is first `created`, and then `starting` its process; a failed start has `ended`. */
export type ExecState = 'created' | 'starting' | 'running' | 'ended';

/** What the engine knows of processes, whichever process of Berth starts them. */
export type ExecsInEngine = {
  /** The ids of a container's execs, which may leave out those that have ended. */
  execsOf(runtimeId: string): Promise<readonly string[]>;
  stateOf(execId: string): Promise<ExecState>;
};

/** Whether any process of Berth pauses the container now or soon. */
export type IsPausing = (runtimeId: string) => Promise<boolean>;

/** A start that was begun ends soon after. */
const ENDS = { withinMs: 30_000, everyMs: 50 };
/** How long a start waits to know of pauses. */
const ASK_MS = 1_000;
/** An exec that does not start for this long is abandoned. Longer than `ASK_MS` and the request to the engine. */
const ABANDONED_MS = 3_000;

/**
 * Keeps pauses and starts of processes in a container apart. A process that is frozen while it starts never finishes
 * that; the engine then blocks each call that needs the container, `unpause` too, for ever.
 *
 * Between processes of Berth: one that pauses records that first, then looks for execs. One that starts makes the exec
 * first, then looks for the record. So at least one of them sees the other.
 */
export function processStarts({ execsOf, stateOf }: ExecsInEngine, abandonedMs = ABANDONED_MS) {
  const starting = new Map<string, Set<Promise<unknown>>>();
  const pausing = new Map<string, Promise<unknown>>();
  let isPausing: IsPausing = async () => false;

  const hasStarted = async (execId: string): Promise<boolean> => {
    const abandonedAt = performance.now() + abandonedMs;
    return await pollUntil(async () => {
      const state = await stateOf(execId);
      return state === 'created' ? performance.now() >= abandonedAt : state !== 'starting';
    }, ENDS);
  };

  return {
    heedPauses(ask: IsPausing): void {
      isPausing = ask;
    },

    /** Starts a process, after a pause that is being made. */
    async start<T>(runtimeId: string, work: () => Promise<T>): Promise<T> {
      while (pausing.has(runtimeId)) await pausing.get(runtimeId);
      const started = work();
      return await among(starting, runtimeId, started);
    },

    /**
     * To be awaited between the creation of an exec and its start. Throws `ContainerPaused` when another process pauses
     * the container. If the database does not answer, the start continues: no pause begins without it either.
     */
    async admit(runtimeId: string): Promise<void> {
      const asked = isPausing(runtimeId).catch(() => false);
      if (await within(ASK_MS, asked, false)) throw new ContainerPaused('the container is being paused');
    },

    /** Pauses a container once no process is starting in it. Throws when a start does not end. */
    async pause<T>(runtimeId: string, work: () => Promise<T>): Promise<T> {
      const paused = Promise.withResolvers<void>();
      pausing.set(runtimeId, paused.promise);
      try {
        await Promise.allSettled(starting.get(runtimeId) ?? []);
        const started = await Promise.all((await execsOf(runtimeId)).map(hasStarted));
        if (started.includes(false))
          throw new RuntimeFailure('it cannot be paused: a process does not start');
        return await work();
      } finally {
        pausing.delete(runtimeId);
        paused.resolve();
      }
    },
  };
}

/** Has the work in the set of the key until it settles; returns its outcome. */
async function among<T>(sets: Map<string, Set<Promise<unknown>>>, key: string, work: Promise<T>): Promise<T> {
  const items = sets.get(key) ?? new Set();
  sets.set(key, items.add(work));
  return await work.finally(() => {
    items.delete(work);
    if (items.size === 0) sets.delete(key);
  });
}
