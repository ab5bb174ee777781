import { createHash } from 'node:crypto';
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
  let buffer = Buffer.alloc(4_096);
  let length = 0;
  return {
    append(bytes: Buffer): void {
      const needed = length + bytes.length;
      if (needed > buffer.length) buffer = Buffer.concat([buffer], 2 * needed);
      length += bytes.copy(buffer, length);
    },
    bytes: () => buffer.subarray(0, length),
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

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Text as it is pasted, and characters that are in no C library: unassigned, private, newer than it. */
const SAMPLES = [
  'plain words, 123\r\n',
  'grüße',
  'привет',
  '漢字かな',
  '한글',
  '😀👩‍👩‍👧🏳️‍🌈',
  'e\u0301',
  '\u0085\u00a0\u2028',
];

/** So many bytes of UTF-8, with characters of every length from all of Unicode, and no escape sequences. */
export function mixedUtf8(length: number): Buffer {
  const parts: Buffer[] = [];
  let left = length;
  while (left > 0) {
    const part = Buffer.from(Math.random() < 0.98 ? aSample() : aCharacter());
    parts.push(left < part.length ? Buffer.alloc(left, '.') : part);
    left -= Math.min(left, part.length);
  }
  return Buffer.concat(parts);
}

const aSample = (): string => SAMPLES[Math.floor(Math.random() * SAMPLES.length)] ?? '';

function aCharacter(): string {
  const codePoint = 0x80 + Math.floor(Math.random() * (0x110000 - 0x80));
  return 0xd800 <= codePoint && codePoint <= 0xdfff ? '' : String.fromCodePoint(codePoint);
}

/** Pieces of so many bytes each, the last one shorter. */
export const piecesOf = (bytes: Buffer, pieceBytes: number): readonly Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) =>
    bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  );

/** Types this to have so many bytes of input in a file as they are; `#START` and `#DONE` come out. */
export const intoFile = (file: string, bytes: number): string =>
  `stty raw -echo; printf '#STA''RT'; head -c ${bytes} > ${file}; printf '#DO''NE'; stty sane\r`;
