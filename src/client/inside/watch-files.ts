import { FILES_PROTOCOL, subprotocols } from '../../protocol/subprotocols.ts';
import { deferred } from '../deferred.ts';
import { Queue } from '../queue.ts';
import { BerthError } from '../request/errors.ts';
import type { Requester } from '../request/requester.ts';
import { answerWithoutUpgrade } from '../socket/refusal.ts';
import type { OpenSocket, Socket } from '../socket/socket.ts';

export type FileEvent = { readonly type: 'created' | 'changed' | 'removed'; readonly path: string };

export type WatchOptions = {
  /** Also all folders below. */
  readonly recursive?: boolean;
  readonly signal?: AbortSignal;
};

type Message =
  | { readonly type: 'events'; readonly events: readonly FileEvent[] }
  | { readonly type: 'overflow' };

/** More wait for a loop that is this slow only while the socket cannot be paused. */
const MAX_WAITING = 10_000;

/**
 * The changes of a folder from now on, for one `for await`; resolves when they are seen. Leaving the loop ends the watch.
 * The loop throws `watch_ended` when the connection or the container ends, and `too_many_files`.
 */
export async function watchFiles(
  requester: Requester,
  open: OpenSocket,
  path: string,
  { signal }: Pick<WatchOptions, 'signal'> = {},
): Promise<AsyncIterableIterator<FileEvent, void, undefined>> {
  const token = await requester.token();
  signal?.throwIfAborted();
  const began = deferred<void>();
  // Without a wait for it, the loop learns of a failure.
  began.promise.catch(() => {});
  let socket: Socket | null = null;
  const stop = (): void => socket?.drop(true);
  const queue = new Queue<FileEvent>(undefined, stop);
  const fail = (error: unknown): void => {
    stop();
    began.reject(error);
    queue.end(error);
  };
  socket = open(requester.webSocketOrigin + path, subprotocols(FILES_PROTOCOL, token ?? ''), {
    text(message) {
      const read = JSON.parse(message) as Message;
      if (read.type === 'overflow')
        return fail(new BerthError(0, 'too_many_files', 'the folder is too large'));
      if (queue.length + read.events.length > MAX_WAITING) return fail(ended('the loop is too slow'));
      for (const event of read.events) queue.push(event);
      began.resolve();
    },
    bytes() {},
    closed(_code, reason, opened) {
      if (opened) return fail(ended(reason || 'the connection broke'));
      answerWithoutUpgrade(requester, path).then(
        (refusal) => fail(refusal ?? ended('the connection was refused')),
        fail,
      );
    },
  });
  signal?.addEventListener('abort', () => fail(signal.reason), { once: true });
  await began.promise;
  return queue;
}

const ended = (reason: string): BerthError => new BerthError(0, 'watch_ended', reason);
