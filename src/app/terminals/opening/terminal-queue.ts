import { randomUUID } from 'node:crypto';
import { slotQueue } from '../../../concurrency/slot-queue.ts';
import type { DomainError } from '../../../domain/errors.ts';
import {
  OPENING_LIMITS,
  OPENING_RETRY_SECONDS,
  OPENING_WAIT_MS,
  type SlotLimits,
  type SlotRequest,
} from '../../../domain/fair-queue.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { AsyncResult } from '../../async-result.ts';

/** Permission to open a terminal now. The holder must call `during` or `abandon`, which lets the next request in. */
export type Turn = {
  /** Whether the caller had to wait, so that its checks may be outdated. */
  readonly hasWaited: boolean;
  /** The turn ends when all of these have settled. */
  during(works: readonly Promise<unknown>[]): void;
  /** Ends the turn if nothing was started. */
  abandon(): void;
};

/** For requests that bypass the queue. */
export const NO_TURN: Turn = { hasWaited: false, during() {}, abandon() {} };

export type TerminalQueueOptions = { readonly limits: SlotLimits; readonly waitMs: number };

const USUAL: TerminalQueueOptions = { limits: OPENING_LIMITS, waitMs: OPENING_WAIT_MS };
export const BUSY: DomainError = { code: 'busy_opening_terminals', retryAfterSeconds: OPENING_RETRY_SECONDS };

export type TerminalQueue = ReturnType<typeof terminalQueue>;

/** Lets a few terminals open at a time in this process, per container and user; others queue. */
export function terminalQueue({ limits, waitMs }: TerminalQueueOptions = USUAL) {
  const queue = slotQueue(limits);
  let isShut = false;

  function turnOf(id: string, hasWaited: boolean): Turn {
    let isUsed = false;
    const over = (): void => queue.leave(id);
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
    async turn(asking: Omit<SlotRequest, 'id'>, gone: AbortSignal): AsyncResult<Turn> {
      const id = randomUUID();
      const entered = !isShut && queue.enter({ id, ...asking }, { ms: waitMs, signal: gone });
      if (await entered) return ok(turnOf(id, entered !== true));
      return refuse(isShut ? { code: 'service_restarting' } : BUSY);
    },

    /** Refuses all waiting and future requests with a retry time, for shutdown. */
    shut(): void {
      isShut = true;
      queue.refuseWaiting();
    },

    /** Whether others for the same container or user wait. */
    isBusy: ({ resourceId, userId }: Omit<SlotRequest, 'id'>): boolean =>
      queue.now().waiting.some((one) => one.resourceId === resourceId || one.userId === userId),

    waiting: (): number => queue.now().waiting.length,
  };
}
