import { randomUUID } from 'node:crypto';
import type { Bus, BusHandler, BusMessage } from '../ports/bus.ts';
import type { Logger } from '../ports/logger.ts';
import { type LineOptions, messageLine } from './message-line.ts';

/** Messages of this interval are sent as one. */
const COALESCE_MS = 15;
const RETRY_MS = 500;
const MAX_BYTES = 7_168;
/** When more wait, one message about the loss replaces them. */
const MAX_WAITING = 10_000;

/** `topic` null: the sender lost messages. */
type Envelope = { readonly from: string; readonly topic: string | null; readonly message: BusMessage };

export type Subscription = {
  readonly topic: string;
  readonly handler: BusHandler;
  readonly onGap: () => void;
};

export type ClosableBus = Bus & { close(): Promise<void> };

/** A bus over any line between processes. */
export function messageBus(line: LineOptions): ClosableBus {
  const { log } = line;
  const me = randomUUID();
  const local = subscriptions(log);
  const receive = ({ from, topic, message }: Envelope): void => {
    if (from === me || typeof from !== 'string') return;
    if (topic === null) local.gap();
    else local.hand(topic, message);
  };
  const others = messageLine(line, {
    onConnect: () => {
      local.gap();
      void outbox.send();
    },
    onPayload: (payload) => isolated(log, () => receive(JSON.parse(payload))),
  });
  const gapPayload = JSON.stringify({ from: me, topic: null, message: {} } satisfies Envelope);
  const outbox = coalesced((payloads) => others.send(payloads), gapPayload);

  return {
    get connected() {
      return others.connected;
    },
    publish(topic, message) {
      const payload = JSON.stringify({ from: me, topic, message } satisfies Envelope);
      if (Buffer.byteLength(payload) > MAX_BYTES) throw new RangeError('a message is above 7 KiB');
      local.hand(topic, message);
      outbox.add(payload);
    },
    subscribe: local.subscribe,
    async close() {
      await outbox.send();
      outbox.stop();
      await others.close();
    },
  };
}

function isolated(log: Logger, run: () => void): void {
  try {
    run();
  } catch (error) {
    log.error({ err: error }, 'a message handler failed');
  }
}

/** Those of this process. */
function subscriptions(log: Logger) {
  const all = new Set<Subscription>();
  return {
    subscribe(topic: string, handler: BusHandler, onGap: () => void): () => void {
      const subscription = { topic, handler, onGap };
      all.add(subscription);
      return () => all.delete(subscription);
    },
    hand(topic: string, message: BusMessage): void {
      for (const one of [...all]) if (one.topic === topic) isolated(log, () => one.handler(message));
    },
    gap(): void {
      for (const { onGap } of [...all]) isolated(log, onGap);
    },
  };
}

/** Collects payloads briefly and sends them in order; keeps them until they are sent. */
function coalesced(notify: (payloads: readonly string[]) => Promise<void>, gapPayload: string) {
  let waiting: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;

  const later = (ms: number): void => {
    timer ??= setTimeout(() => void send(), ms).unref();
  };
  const send = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    sending ??= sendNow().finally(() => {
      sending = undefined;
    });
    return sending;
  };
  async function sendNow(): Promise<void> {
    // Equal messages, such as those that wake the readers of events, are one.
    const batch = [...new Set(waiting)];
    waiting = [];
    if (batch.length === 0) return;
    const sent = await notify(batch).then(
      () => true,
      () => false,
    );
    if (!sent) waiting = batch.length + waiting.length > MAX_WAITING ? [gapPayload] : [...batch, ...waiting];
    if (waiting.length > 0) later(sent ? COALESCE_MS : RETRY_MS);
  }
  return {
    add(payload: string): void {
      waiting.push(payload);
      later(COALESCE_MS);
    },
    send,
    stop: (): void => clearTimeout(timer),
  };
}
