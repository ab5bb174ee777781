import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { throttled } from '../../../concurrency/coalesce.ts';
import { INSTANCE_LABEL } from './engine-names.ts';

/** One event of the engine's stream, as far as it is read. */
type EngineEvent = { readonly Action?: string; readonly Actor?: { readonly ID?: string } };

const SETTLE_MS = 200;
const RECONNECT_MS = 2_000;
const EVENTS = ['start', 'die', 'destroy', 'oom', 'pause', 'unpause'];

/**
 * Resolves when the engine reports the end of the container's first process from now on, with which the kernel has ended
 * all others. That comes before the engine releases the network, and may be missed: `close` it with what else is awaited.
 */
export function watchForEnd(docker: Docker, runtimeId: string): { ended: Promise<void>; close: () => void } {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const asked: Promise<unknown> = docker.getEvents({
    filters: { type: ['container'], event: ['die'], container: [runtimeId] },
  });
  const streaming = asked.then((answer) => {
    const stream = answer as Readable;
    stream.on('error', () => stream.destroy());
    stream.on('data', (lines: Buffer) => {
      if (
        String(lines)
          .split('\n')
          .some((line) => isEndOf(runtimeId, line))
      )
        resolve();
    });
    return stream;
  });
  streaming.catch(() => undefined);
  return {
    ended,
    close: () =>
      void streaming.then(
        (stream) => stream.destroy(),
        () => undefined,
      ),
  };
}

/** Not trusting the engine's filters: two containers must never run on one volume. */
function isEndOf(runtimeId: string, line: string): boolean {
  try {
    const { Action, Actor } = JSON.parse(line) as EngineEvent;
    return Action === 'die' && Actor?.ID === runtimeId;
  } catch {
    return false;
  }
}

/**
 * Listens to engine events as hints, since they may be lost. Close ones are merged, and each new connection causes one
 * for what was missed.
 */
export function watchEngine(docker: Docker, instanceId: string, hint: () => void): () => void {
  let ended = false;
  let stream: Readable | null = null;
  const hints = throttled(SETTLE_MS, hint);
  const again = (): void => {
    if (!ended) setTimeout(() => void connect(), RECONNECT_MS).unref();
  };
  const connect = async (): Promise<void> => {
    try {
      const label = [`${INSTANCE_LABEL}=${instanceId}`];
      const asked: Promise<unknown> = docker.getEvents({
        filters: { type: ['container'], event: EVENTS, label },
      });
      stream = (await asked) as Readable;
      if (ended) stream.destroy();
      stream.on('data', hints.call);
      stream.once('error', () => stream?.destroy());
      stream.once('close', again);
      hints.call();
    } catch {
      again();
    }
  };
  void connect();
  return () => {
    ended = true;
    hints.cancel();
    stream?.destroy();
  };
}
