import { WebSocket } from 'ws';
import { waitFor } from './patience.ts';

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
