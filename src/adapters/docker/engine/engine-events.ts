import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { throttled } from '../../../concurrency/coalesce.ts';
import { INSTANCE_LABEL } from './engine-names.ts';

const SETTLE_MS = 200;
const RECONNECT_MS = 2_000;
const EVENTS = ['start', 'die', 'destroy', 'oom', 'pause', 'unpause'];

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
