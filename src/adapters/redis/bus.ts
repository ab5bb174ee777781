import { createClient } from '@redis/client';
import { within } from '../../concurrency/timeout.ts';
import { ANSWER_WITHIN_MS, type ConnectionLog } from '../kept-connection.ts';
import { type ClosableBus, messageBus } from '../message-bus.ts';
import type { ConnectionEvents, LineConnection } from '../message-line.ts';

/** Of one message to Redis, so that no subscriber's buffer (8 MB) overflows by few of them. */
const MAX_BATCH_CHARACTERS = 256 * 1024;

/**
 * Publish and subscribe of a Redis or Valkey, over one connection in its protocol of version 6 and newer. It stores
 * nothing. `installationId` names the channel: databases of one server share their channels. `url` may have a password,
 * and is never logged.
 */
export const redisBus = (url: string, installationId: string, log: ConnectionLog): ClosableBus =>
  messageBus({
    open: (events) => openSubscriber(url, `berth:${installationId}`, events),
    whenDeaf:
      'no messages arrive over Redis: publish and subscribe need one server, and the right to its channel',
    log,
  });

async function openSubscriber(
  url: string,
  channel: string,
  { onPayload, onLost }: ConnectionEvents,
): Promise<LineConnection> {
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
    for (const payload of payloadsOf(text)) onPayload(payload);
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
      const batches = batchesOf(payloads);
      await answered(Promise.all(batches.map((batch) => client.publish(channel, JSON.stringify(batch)))));
    },
    hangUp: async () => client.destroy(),
  };
}

/** A connection to a silent server stays open. */
async function answered(work: Promise<unknown>): Promise<void> {
  const isLate = Symbol('late');
  if ((await within(ANSWER_WITHIN_MS, work, isLate)) === isLate) throw new Error('Redis does not answer');
}

/** Nothing for what strangers send on the channel. */
function payloadsOf(text: string): readonly string[] {
  const payloads = parsed(text);
  return Array.isArray(payloads) ? payloads.filter((each) => typeof each === 'string') : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
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
