import type { Bus } from '../../ports/bus.ts';
import type { Subscription } from '../message-bus.ts';

export type MemoryBus = Bus & {
  /** Disconnects this process: it receives nothing, and its messages wait. */
  cut(): void;
  reconnect(): void;
};

const MAX_BYTES = 7_168;

/** A bus between simulated processes, one per `join`. */
export function memoryBusHub(): { readonly join: () => MemoryBus } {
  const members = new Set<(topic: string, text: string) => void>();

  function join(): MemoryBus {
    const subscriptions = new Set<Subscription>();
    const waiting: (readonly [topic: string, text: string])[] = [];
    let connected = true;

    const hand = (topic: string, text: string): void => {
      for (const one of [...subscriptions]) if (one.topic === topic) one.handler(JSON.parse(text));
    };
    const hear = (topic: string, text: string): void => {
      if (connected) hand(topic, text);
    };
    const send = (): void => {
      if (!connected) return;
      for (const [topic, text] of waiting.splice(0)) {
        for (const other of members) if (other !== hear) other(topic, text);
      }
    };
    members.add(hear);

    return {
      get connected() {
        return connected;
      },
      publish(topic, message) {
        const text = JSON.stringify(message);
        if (Buffer.byteLength(text) > MAX_BYTES) throw new RangeError('a message is above 7 KiB');
        hand(topic, text);
        waiting.push([topic, text]);
        setImmediate(send);
      },
      subscribe(topic, handler, onGap) {
        const subscription = { topic, handler, onGap };
        subscriptions.add(subscription);
        return () => subscriptions.delete(subscription);
      },
      cut: () => {
        connected = false;
      },
      reconnect: () => {
        connected = true;
        for (const { onGap } of [...subscriptions]) onGap();
        send();
      },
    };
  }
  return { join };
}
