import { deferred } from '../deferred.ts';
import { Queue } from '../queue.ts';
import type { BerthError } from '../request/errors.ts';
import type { Requester } from '../request/requester.ts';
import { answerWithoutUpgrade, passes, refusalOf } from '../socket/refusal.ts';
import type { OpenSocket } from '../socket/socket.ts';
import { type Event, RESYNC, type Resync } from './event.ts';
import { EventStream, type StreamDeps } from './event-stream.ts';

export type EventsOptions = {
  /** The id of the last known event: those since then come first. */
  readonly after?: string;
  readonly signal?: AbortSignal;
  readonly backoff?: StreamDeps['backoff'];
};

/** Events as they happen, for one `for await`. Leaving the loop ends the connection. */
export type Events = AsyncIterableIterator<Event | Resync, void, undefined> & {
  /** Resolves once the service sends every change from now on. */
  readonly connected: Promise<void>;
};

const PATH = '/api/events';

/** More wait for a loop that is this slow as one `resync`. */
const MAX_WAITING = 1_000;

/**
 * Follows the events across lost connections, without gap or repeat; `resync` tells of a gap. Throws when the
 * credential is refused, or the service does not answer at first.
 */
export function followEvents(
  requester: Requester,
  openSocket: () => Promise<OpenSocket>,
  { after, signal, backoff }: EventsOptions,
): Events {
  const connected = deferred<void>();
  // A caller that does not wait for it gets the failure from the loop.
  connected.promise.catch(() => {});
  let isOver = false;
  let close = (): void => {};
  const aborted = (): void => fail(signal?.reason);
  const stop = (): void => {
    isOver = true;
    signal?.removeEventListener('abort', aborted);
    close();
  };
  const queue = new Queue<Event | Resync>(undefined, stop);
  const fail = (error: unknown): void => {
    stop();
    connected.reject(error);
    queue.end(error);
  };
  const listener = {
    event: (event: Event | Resync) =>
      queue.length < MAX_WAITING ? queue.push(event) : queue.replace(RESYNC),
    live: (isLive: boolean) => isLive && connected.resolve(),
    answers: () => {},
    refused: (refusal: BerthError) => fail(refusal),
  };
  const begin = async (): Promise<void> => {
    const [open, refusal] = await Promise.all([openSocket(), answerWithoutUpgrade(requester, PATH)]);
    if (isOver) return;
    if (refusal !== null && !passes(refusal)) throw refusal;
    const stream = new EventStream(
      {
        origin: requester.webSocketOrigin,
        openSocket: open,
        token: () => requester.token(),
        refusal: () => refusalOf(requester, PATH),
        after: after ?? null,
        ...(backoff && { backoff }),
      },
      listener as ConstructorParameters<typeof EventStream>[1],
    );
    close = () => stream.close();
    if (signal?.aborted) fail(signal.reason);
    else stream.open();
  };
  signal?.addEventListener('abort', aborted, { once: true });
  begin().catch(fail);
  return Object.assign(queue, { connected: connected.promise });
}
