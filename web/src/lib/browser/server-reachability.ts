import { signal } from '@preact/signals';

/** Whether this page reaches the service, as far as it knows. */
export type Reach = 'fine' | 'offline' | 'no_answer';

/** `offline` and `online` are the browser's own notices; the other two are what a request or a ping came to. */
export type ReachEvent = 'offline' | 'online' | 'answered' | 'unanswered';

const TRANSITIONS: Readonly<Record<Reach, Partial<Readonly<Record<ReachEvent, Reach>>>>> = {
  fine: { offline: 'offline', unanswered: 'no_answer' },
  // why: a browser without a network says so on a machine that serves itself, too
  offline: { online: 'fine', answered: 'fine' },
  no_answer: { offline: 'offline', answered: 'fine' },
};

export const nextReach = (reach: Reach, event: ReachEvent): Reach => TRANSITIONS[reach][event] ?? reach;

export const reach = signal<Reach>('fine');

let offlineSinceMs = Number.NEGATIVE_INFINITY;

const note = (event: ReachEvent): void => {
  reach.value = nextReach(reach.peek(), event);
};

/** A request sent at `askedAtMs` is answered. An answer to one from before the line went down proves nothing. */
export function noteAnswer(askedAtMs: number): void {
  if (askedAtMs >= offlineSinceMs) note('answered');
}

export const noteNoAnswer = (): void => note('unanswered');

/** Follows the browser's notices. */
export function startReach(): void {
  addEventListener('offline', () => {
    offlineSinceMs = Math.round(performance.now());
    note('offline');
  });
  addEventListener('online', () => note('online'));
}
