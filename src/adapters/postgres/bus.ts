import { randomUUID } from 'node:crypto';
import type { Bus, BusHandler, BusMessage } from '../../ports/bus.ts';
import type { Logger } from '../../ports/logger.ts';
import { listen } from './notification-listener.ts';

/** Messages of this interval are sent as one: each statement takes a server-wide lock. */
const COALESCE_MS = 15;
const RETRY_MS = 500;
const MAX_BYTES = 7_168;
/** When more wait, one message about the loss replaces them. */
const MAX_WAITING = 10_000;

/** `topic` null: the sender lost messages. */
type Envelope = { readonly from: string; readonly topic: string | null; readonly message: BusMessage };
type Subscription = { readonly topic: string; readonly handler: BusHandler; readonly onGap: () => void };

/** LISTEN and NOTIFY on a dedicated connection, which must not pass a pooler that shares connections. */
export function postgresBus(url: string, log: Logger): Bus & { close(): Promise<void> } {
  const me = randomUUID();
  const subscriptions = new Set<Subscription>();
  const isolated = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      log.error({ err: error }, 'a message handler failed');
    }
  };
  const gap = (): void => {
    for (const { onGap } of [...subscriptions]) isolated(onGap);
  };
  const hand = (topic: string, message: BusMessage): void => {
    for (const one of [...subscriptions]) if (one.topic === topic) isolated(() => one.handler(message));
  };
  const receive = ({ from, topic, message }: Envelope): void => {
    if (from === me || typeof from !== 'string') return;
    if (topic === null) gap();
    else hand(topic, message);
  };
  const listener = listen(url, log, {
    onConnect: () => {
      gap();
      void outbox.send();
    },
    onPayload: (payload) => isolated(() => receive(JSON.parse(payload))),
  });
  const gapPayload = JSON.stringify({ from: me, topic: null, message: {} } satisfies Envelope);
  const outbox = coalesced((payloads) => listener.notify(payloads), gapPayload);

  return {
    get connected() {
      return listener.connected;
    },
    publish(topic, message) {
      const payload = JSON.stringify({ from: me, topic, message } satisfies Envelope);
      if (Buffer.byteLength(payload) > MAX_BYTES) throw new RangeError('a message is above 7 KiB');
      hand(topic, message);
      outbox.add(payload);
    },
    subscribe(topic, handler, onGap) {
      const subscription = { topic, handler, onGap };
      subscriptions.add(subscription);
      return () => subscriptions.delete(subscription);
    },
    async close() {
      await outbox.send();
      outbox.stop();
      await listener.close();
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
    const batch = waiting;
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
