import { randomUUID } from 'node:crypto';
import {
  EMPTY_QUEUE,
  ENGINE_RETRY_SECONDS,
  isFull,
  nextQueue,
  type QueueEvent,
  type SlotLimits,
  type SlotRequest,
  type WaitLimits,
  WORK_LIMITS,
} from '../../domain/fair-queue.ts';
import { RuntimeBusy } from '../../ports/container-runtime.ts';
import type { EngineWait } from '../../ports/metrics.ts';

/** What is dear for an engine beside the starts of processes; a container's owner is charged. */
export type WorkTurns = {
  /** An archive or an upload, from its begin to its end. Throws `RuntimeBusy` when its turn does not come in time. */
  transfer(containerId: string): Promise<Release>;
  /** One piece of a file on its way. It waits for as long as it takes, and whoever is slow gives its turn to others. */
  piece(containerId: string): Promise<Release>;
  /** Figures of a container. One that takes too long gives its turn to others, and nothing more is asked of its container until it ends. */
  figures<T>(containerId: string, work: () => Promise<T>): Promise<T>;
  /** The size of a container, of which the engine looks at every file. */
  size<T>(containerId: string, work: () => Promise<T>): Promise<T>;
  /** How many wait now. */
  waiting(): number;
  /** Told of every wait from now on, except those of pieces. */
  listen(listener: (wait: EngineWait) => void): void;
};

/** Gives a turn back, however often it is called. */
export type Release = () => void;

/** `ownerOf`: whose turn it is. */
export function workTurns(ownerOf: (containerId: string) => string): WorkTurns {
  let told = (_wait: EngineWait): void => {};
  const tell = (wait: EngineWait): void => told(wait);
  const { transfers, pieces, figures, sizes } = WORK_LIMITS;
  const lines = {
    transfers: line({ ...transfers, work: 'transfers', ownerOf, tell }),
    pieces: line({ ...pieces, work: 'pieces', ownerOf, tell }),
    figures: line({ ...figures, work: 'figures', ownerOf, tell }),
    sizes: line({ ...sizes, work: 'sizes', ownerOf, tell }),
  };
  const during =
    ({ take }: Line) =>
    async <T>(containerId: string, work: () => Promise<T>): Promise<T> => {
      const release = await take(containerId);
      return await work().finally(release);
    };
  return {
    transfer: lines.transfers.take,
    piece: lines.pieces.take,
    figures: during(lines.figures),
    size: during(lines.sizes),
    waiting: () => Object.values(lines).reduce((sum, { waiting }) => sum + waiting(), 0),
    listen(listener) {
      told = listener;
    },
  };
}

type Line = { take(containerId: string): Promise<Release>; waiting(): number };

type Rules = {
  readonly limits: SlotLimits;
  /** null: it waits for as long as it takes. */
  readonly wait: (WaitLimits & { readonly ms: number }) | null;
  /** After so long others have the turn. `closes`: nothing more of that container has one until it ends. */
  readonly late?: { readonly ms: number; readonly closes: boolean };
  readonly work: EngineWait['work'] | 'pieces';
  readonly ownerOf: (containerId: string) => string;
  readonly tell: (wait: EngineWait) => void;
};

function line({ limits, wait, late, work, ownerOf, tell }: Rules): Line {
  const settle = new Map<string, (start: boolean) => void>();
  let queue = EMPTY_QUEUE;

  function apply(event: QueueEvent): void {
    const { queue: after, start } = nextQueue(queue, event, limits);
    queue = after;
    for (const id of start) settle.get(id)?.(true);
  }

  async function begins(request: SlotRequest): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = wait === null ? undefined : setTimeout(resolve, wait.ms, false);
    settle.set(request.id, resolve);
    apply({ type: 'enter', request });
    const isStarted = await promise;
    clearTimeout(timer);
    settle.delete(request.id);
    return isStarted;
  }

  function note(sinceMs: number, outcome: EngineWait['outcome']): void {
    if (work !== 'pieces') tell({ work, outcome, seconds: (performance.now() - sinceMs) / 1000 });
  }

  return {
    async take(containerId) {
      const id = randomUUID();
      const asked = { containerId, userId: ownerOf(containerId) };
      const since = performance.now();
      const isStarted = (wait === null || !isFull(queue, asked, wait)) && (await begins({ id, ...asked }));
      note(since, isStarted ? 'started' : 'engine_busy');
      if (!isStarted) {
        apply({ type: 'leave', id });
        throw new RuntimeBusy('engine_busy', ENGINE_RETRY_SECONDS);
      }
      const giveUp = (): void => apply({ type: late?.closes ? 'late' : 'leave', id });
      const timer = late === undefined ? undefined : setTimeout(giveUp, late.ms);
      return () => {
        clearTimeout(timer);
        apply({ type: 'leave', id });
      };
    },
    waiting: () => queue.waiting.length,
  };
}

/** Passes a stream on, each piece in its turn. Between two pieces, also while its reader is slow, others have theirs. */
export async function* inTurns(
  source: AsyncIterable<Buffer>,
  turn: () => Promise<Release>,
): AsyncGenerator<Buffer> {
  const pieces = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const release = await turn();
      const piece = await pieces.next().finally(release);
      if (piece.done) return;
      yield piece.value;
    }
  } finally {
    await pieces.return?.();
  }
}
