import { createClient } from '@redis/client';
import { within } from '../../concurrency/timeout.ts';
import { ANSWER_WITHIN_MS, type ConnectionLog } from '../kept-connection.ts';
import { type ClosableBus, messageBus } from '../message-bus.ts';
import type { ConnectionEvents, LineConnection } from '../message-line.ts';
import { type MessageKeys, signedBatches } from './signed-batches.ts';

/** Of one message to Redis, so that no subscriber's buffer (8 MB) overflows by few of them. */
const MAX_BATCH_CHARACTERS = 256 * 1024;
const NOT_OURS =
  'ignored a message over Redis without the signature of this installation: its processes need the same BERTH_JWT_SECRET';

/**
 * Publish and subscribe of a Redis or Valkey, over one connection in its protocol of version 6 and newer. It stores
 * nothing. `installationId` names the channel: databases of one server share their channels. What the keys of `from` do
 * not verify is ignored. `url` may have a password, and is never logged.
 */
export function redisBus(url: string, from: Installation, log: ConnectionLog): ClosableBus {
  const channel = `berth:${from.installationId}`;
  return messageBus({
    open: (events) => openSubscriber({ url, channel, keys: from.keys, log }, events),
    whenDeaf: `no messages arrive over Redis: publish and subscribe need one server, and the right to ${channel}`,
    log,
  });
}

export type Installation = { readonly installationId: string; readonly keys: MessageKeys };

type Channel = {
  readonly url: string;
  readonly channel: string;
  readonly keys: MessageKeys;
  readonly log: ConnectionLog;
};

async function openSubscriber(
  { url, channel, keys, log }: Channel,
  { onPayload, onLost }: ConnectionEvents,
): Promise<LineConnection> {
  const batches = signedBatches(channel, keys);
  const client = createClient({
    url,
    name: 'berth-bus',
    socket: { connectTimeout: ANSWER_WITHIN_MS, reconnectStrategy: false },
    // Nothing that a user with few rights may not do.
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
  // Each is followed by a rejection, or the end.
  client.on('error', () => undefined);
  client.on('terminated', onLost);
  const onBatch = (text: string): void => {
    const payloads = batches.read(text);
    if (payloads === null) log.warn(NOT_OURS);
    for (const payload of payloads ?? []) onPayload(payload);
  };
  try {
    await answered(client.connect().then(() => client.subscribe(channel, onBatch)));
  } catch (error) {
    client.destroy();
    throw error;
  }
  return {
    ask: () => answered(client.ping()),
    send: async (payloads) => {
      const texts = batchesOf(payloads).map(batches.write);
      await answered(Promise.all(texts.map((text) => client.publish(channel, text))));
    },
    hangUp: async () => client.destroy(),
  };
}

/** A connection to a silent server stays open. */
async function answered(work: Promise<unknown>): Promise<void> {
  const isLate = Symbol('late');
  if ((await within(ANSWER_WITHIN_MS, work, isLate)) === isLate) throw new Error('Redis does not answer');
}

/** Each message costs Redis a wake-up of every process, so one has as many payloads as are waiting. */
function batchesOf(payloads: readonly string[]): readonly (readonly string[])[] {
  const batches: string[][] = [];
  let free = 0;
  for (const payload of payloads) {
    if (payload.length > free) {
      batches.push([]);
      free = MAX_BATCH_CHARACTERS;
    }
    batches.at(-1)?.push(payload);
    free -= payload.length;
  }
  return batches;
}
