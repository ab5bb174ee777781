import { WebSocket } from 'ws';
import { waitFor } from '../patience.ts';
import { ORIGIN } from '../service/service.ts';

type Ready = { stream: string; offset: number; input_offset: number; redraw: boolean };
type Message = Record<string, unknown>;

export type TerminalClient = {
  readonly socket: WebSocket;
  readonly ready: Ready & Message;
  readonly messages: readonly Message[];
  readonly output: () => Buffer;
  /** Waits until something is so; throws when it does not become so in time. */
  until(check: () => boolean): Promise<void>;
  closed(): Promise<readonly [code: number, reason: string]>;
};

export type TerminalAddress = {
  /** `ws://host:port` */
  readonly address: string;
  readonly dbId: string;
  readonly token: string;
};

type ClientOptions = { readonly autoPong?: boolean; readonly origin?: string; readonly patienceMs?: number };

/** Bytes that are appended, and read at any time without being copied. */
function growing() {
  let held = Buffer.alloc(4_096);
  let length = 0;
  return {
    append(bytes: Buffer): void {
      const needed = length + bytes.length;
      if (needed > held.length) held = Buffer.concat([held], 2 * needed);
      length += bytes.copy(held, length);
    },
    bytes: () => held.subarray(0, length),
  };
}

/** One socket that speaks the protocol; `query` is what it asks for. */
export async function terminalClient(
  { address, dbId, token }: TerminalAddress,
  query: Record<string, string | number> = {},
  { patienceMs, ...options }: ClientOptions = {},
): Promise<TerminalClient> {
  const given = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const url = `${address}/api/containers/${dbId}/terminal?${given}`;
  const protocols = ['berth.terminal.v1', `bearer.${token}`];
  const socket = new WebSocket(url, protocols, { origin: ORIGIN, ...options });
  const messages: Message[] = [];
  const output = growing();
  let close: readonly [number, string] | null = null;
  socket.on('error', () => {});
  socket.on('close', (code, reason) => {
    close = [code, String(reason)];
  });
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) output.append(data);
    else messages.push(JSON.parse(String(data)));
  });
  const until = (check: () => boolean): Promise<void> =>
    waitFor(check, {
      ...(patienceMs !== undefined && { patienceMs }),
      what: () => `${check}; ${JSON.stringify(messages)}`,
    });
  const readyMessage = (): Message | undefined => messages.find(({ type }) => type === 'ready');
  await until(() => readyMessage() !== undefined || close !== null);
  const ready = readyMessage();
  if (ready === undefined) throw new Error(`closed before it was ready: ${close}`);
  return {
    socket,
    ready: ready as Ready,
    messages,
    output: output.bytes,
    until,
    async closed() {
      await until(() => close !== null);
      return close as unknown as [number, string];
    },
  };
}
