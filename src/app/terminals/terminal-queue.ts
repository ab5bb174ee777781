import { randomUUID } from 'node:crypto';
import type { DomainError } from '../../domain/errors.ts';
import {
  EMPTY_QUEUE,
  nextQueue,
  OPENING_LIMITS,
  OPENING_RETRY_SECONDS,
  OPENING_WAIT_MS,
  type QueueEvent,
  type SlotLimits,
  type SlotRequest,
} from '../../domain/fair-queue.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';

/** Permission to open a terminal now. The holder must call `during` or `abandon`, which lets the next request in. */
export type Turn = {
  /** Whether the caller had to wait, so that its checks may be out of date. */
  readonly hasWaited: boolean;
  /** It is over when all of these have settled. */
  during(works: readonly Promise<unknown>[]): void;
  /** It is over if nothing was begun. */
  abandon(): void;
};

/** For requests that bypass the queue. */
export const NO_TURN: Turn = { hasWaited: false, during() {}, abandon() {} };

export type TerminalQueueOptions = { readonly limits: SlotLimits; readonly waitMs: number };

const USUAL: TerminalQueueOptions = { limits: OPENING_LIMITS, waitMs: OPENING_WAIT_MS };
export const BUSY: DomainError = { code: 'busy_opening_terminals', retryAfterSeconds: OPENING_RETRY_SECONDS };

type Outcome = 'start' | 'late' | 'gone' | 'restarting';

export type TerminalQueue = ReturnType<typeof terminalQueue>;

/** Lets a few terminals be opened at a time in this process, for each container and user; the others wait in line. */
export function terminalQueue({ limits, waitMs }: TerminalQueueOptions = USUAL) {
  const settle = new Map<string, (outcome: Outcome) => void>();
  let queue = EMPTY_QUEUE;
  let isShut = false;

  function apply(event: QueueEvent): void {
    const { queue: after, start } = nextQueue(queue, event, limits);
    queue = after;
    for (const id of start) settle.get(id)?.('start');
  }

  function wait(request: SlotRequest, gone: AbortSignal): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const leave = (): void => resolve('gone');
    const timer = setTimeout(resolve, waitMs, 'late');
    gone.addEventListener('abort', leave, { once: true });
    if (gone.aborted) leave();
    if (isShut) resolve('restarting');
    settle.set(request.id, resolve);
    apply({ type: 'enter', request });
    return promise.finally(() => {
      clearTimeout(timer);
      gone.removeEventListener('abort', leave);
      settle.delete(request.id);
    });
  }

  function turnOf(id: string, hasWaited: boolean): Turn {
    let isUsed = false;
    const over = (): void => apply({ type: 'leave', id });
    return {
      hasWaited,
      during(works) {
        isUsed = true;
        void Promise.allSettled(works).then(over);
      },
      abandon() {
        if (!isUsed) over();
      },
    };
  }

  return {
    /** Resolves with the caller's turn, or with a refusal when the wait times out or the service stops. `gone` ends the wait. */
    async turn(asking: Omit<SlotRequest, 'id'>, gone: AbortSignal): Promise<Result<Turn, DomainError>> {
      const id = randomUUID();
      const waited = wait({ id, ...asking }, gone);
      const hasWaited = queue.waiting.some((one) => one.id === id);
      const outcome = await waited;
      if (outcome === 'start') return ok(turnOf(id, hasWaited));
      apply({ type: 'leave', id });
      return refuse(outcome === 'restarting' ? { code: 'service_restarting' } : BUSY);
    },

    /** The service ends: all who wait, and all who come, are told to come back. */
    shut(): void {
      isShut = true;
      for (const resolve of settle.values()) resolve('restarting');
    },

    /** Whether others for the same container or of the same user wait. */
    isBusy: ({ resourceId, userId }: Omit<SlotRequest, 'id'>): boolean =>
      queue.waiting.some((one) => one.resourceId === resourceId || one.userId === userId),

    /** How many wait for their turn. */
    waiting: (): number => queue.waiting.length,
  };
}
