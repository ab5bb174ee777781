import { slotQueue } from '../concurrency/slot-queue.ts';
import {
  ENGINE_RETRY_SECONDS,
  isFull,
  type SlotLimits,
  type WaitLimits,
  WORK_LIMITS,
} from '../domain/fair-queue.ts';
import { RuntimeBusy } from '../ports/containers/container-runtime.ts';
import type { Release } from '../ports/containers/inside/container-programs.ts';
import type { EngineWait } from '../ports/metrics.ts';

/** Queues for expensive engine work besides process starts; a container's owner is charged. */
export type WorkTurns = {
  /** A whole archive or upload. Throws `RuntimeBusy` without a turn in time. */
  transfer(runtimeId: string): Promise<Release>;
  /** One piece of a file in transit. Waits without limit; a slow one gives up its turn. */
  piece(runtimeId: string): Promise<Release>;
  /** A container's statistics. A slow call gives up its turn, and no other starts for its container until it ends. */
  figures<T>(runtimeId: string, work: () => Promise<T>): Promise<T>;
  /** A container's size, for which the engine visits every file. */
  size<T>(runtimeId: string, work: () => Promise<T>): Promise<T>;
  waiting(): number;
  /** Reports every future wait, except of pieces. */
  listen(listener: (wait: EngineWait) => void): void;
};

/** `ownerOf`: the user who is charged. */
export function workTurns(ownerOf: (runtimeId: string) => string): WorkTurns {
  let report = (_wait: EngineWait): void => {};
  const onWait = (wait: EngineWait): void => report(wait);
  const { transfers, pieces, figures, sizes } = WORK_LIMITS;
  const lines = {
    transfers: line({ ...transfers, work: 'transfers', ownerOf, onWait }),
    pieces: line({ ...pieces, work: 'pieces', ownerOf, onWait }),
    figures: line({ ...figures, work: 'figures', ownerOf, onWait }),
    sizes: line({ ...sizes, work: 'sizes', ownerOf, onWait }),
  };
  const during =
    ({ take }: Line) =>
    async <T>(runtimeId: string, work: () => Promise<T>): Promise<T> => {
      const release = await take(runtimeId);
      return await work().finally(release);
    };
  return {
    transfer: lines.transfers.take,
    piece: lines.pieces.take,
    figures: during(lines.figures),
    size: during(lines.sizes),
    waiting: () => Object.values(lines).reduce((sum, { waiting }) => sum + waiting(), 0),
    listen(listener) {
      report = listener;
    },
  };
}

type Line = { take(runtimeId: string): Promise<Release>; waiting(): number };

type Rules = {
  readonly limits: SlotLimits;
  /** null: no limit. */
  readonly wait: (WaitLimits & { readonly ms: number }) | null;
  /** After this time others get the turn. `closes`: its container gets none until it ends. */
  readonly late?: { readonly ms: number; readonly closes: boolean };
  readonly work: EngineWait['work'] | 'pieces';
  readonly ownerOf: (runtimeId: string) => string;
  readonly onWait: (wait: EngineWait) => void;
};

function line({ limits, wait, late, work, ownerOf, onWait }: Rules): Line {
  const queue = slotQueue(limits);
  let count = 0;

  function note(sinceMs: number, outcome: EngineWait['outcome']): void {
    if (work !== 'pieces') onWait({ work, outcome, seconds: (performance.now() - sinceMs) / 1000 });
  }

  return {
    async take(runtimeId) {
      count += 1;
      const id = String(count);
      const asked = { resourceId: runtimeId, userId: ownerOf(runtimeId) };
      const since = performance.now();
      const isRefused = wait !== null && isFull(queue.now(), asked, wait);
      const entered = !isRefused && queue.enter({ id, ...asked }, { ms: wait?.ms });
      // A stream has thousands of pieces: one that gets its turn at once does not wait for the event loop.
      const isStarted = entered === true || (await entered);
      note(since, isStarted ? 'started' : 'engine_busy');
      if (!isStarted) throw new RuntimeBusy('engine_busy', ENGINE_RETRY_SECONDS);
      const giveUp = (): void => (late?.closes ? queue.late(id) : queue.leave(id));
      const timer = late === undefined ? undefined : setTimeout(giveUp, late.ms);
      return () => {
        clearTimeout(timer);
        queue.leave(id);
      };
    },
    waiting: () => queue.now().waiting.length,
  };
}
