import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { WebSocket } from 'ws';
import { waitFor } from '../patience.ts';

export type Message = {
  readonly type: string;
  readonly id?: string;
  readonly time?: string;
  readonly data?: Readonly<Record<string, unknown>>;
};

export type EventClient = {
  readonly socket: WebSocket;
  readonly messages: readonly Message[];
  /** Waits until something is so; throws when it is not in time. */
  until(check: () => boolean): Promise<void>;
  closed(): Promise<readonly [code: number, reason: string]>;
};

/** A subscriber of events that is connected. */
export async function eventClient(
  address: string,
  token: string,
  after: string | null = null,
): Promise<EventClient> {
  const query = after === null ? '' : `?after=${encodeURIComponent(after)}`;
  const url = `${address}/api/events${query}`;
  const socket = new WebSocket(url, ['berth.events.v1', `bearer.${token}`]);
  const messages: Message[] = [];
  let close: readonly [number, string] | null = null;
  let failure: unknown = null;
  socket.on('error', (error) => {
    failure = error;
  });
  socket.on('close', (code, reason) => {
    close = [code, String(reason)];
  });
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  const until = (check: () => boolean): Promise<void> =>
    waitFor(check, { what: () => `${check}; ${JSON.stringify(messages)} ${close}` });
  await until(() => socket.readyState === WebSocket.OPEN || close !== null);
  if (close !== null) throw new Error(`refused: ${failure ?? close}`);
  return {
    socket,
    messages,
    until,
    async closed() {
      await until(() => close !== null);
      return close as unknown as [number, string];
    },
  };
}

export type Follower = {
  /** All that came, over all connections. */
  readonly messages: readonly Message[];
  /** How often it has connected. */
  connections(): number;
  /** Cuts the line; it comes back by itself. */
  cut(): void;
  until(check: () => boolean, withinMs?: number): Promise<void>;
};

const RETRY_MS = 100;
const PATIENCE_MS = 60_000;

/** A client that comes back by the id of the last event whenever its line ends, until `t` ends. */
export async function followEvents(t: Test, address: () => string, token: string): Promise<Follower> {
  const messages: Message[] = [];
  let current: EventClient | null = null;
  let connections = 0;
  let over = false;

  const connect = async (): Promise<EventClient | null> => {
    const last = messages.findLast(({ id }) => id !== undefined)?.id ?? null;
    return await eventClient(address().replace(/^http/, 'ws'), token, last).catch(() => null);
  };
  const keepConnected = async (): Promise<void> => {
    while (!over) {
      const client = await connect();
      if (client === null) {
        // The pace of a client; nothing is waited for.
        await sleep(RETRY_MS);
        continue;
      }
      current = client;
      connections += 1;
      const ended = new Promise((resolve) => client.socket.once('close', resolve));
      messages.push(...client.messages);
      client.socket.on('message', (data) => messages.push(JSON.parse(String(data))));
      if (client.socket.readyState < 2) await ended;
    }
  };
  void keepConnected();
  t.teardown(() => {
    over = true;
    current?.socket.terminate();
  });
  await waitFor(() => connections > 0, { patienceMs: PATIENCE_MS, what: 'the follower connects' });
  return {
    messages,
    connections: () => connections,
    cut: () => current?.socket.terminate(),
    until: (check, patienceMs = PATIENCE_MS) =>
      waitFor(check, { patienceMs, what: () => `${check}; the last: ${JSON.stringify(messages.slice(-5))}` }),
  };
}
