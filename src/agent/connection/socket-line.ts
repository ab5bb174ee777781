import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { type Line, MAX_MESSAGE_BYTES } from '../../protocol/agent/index.ts';
import { AGENT_PROTOCOL } from '../../protocol/subprotocols.ts';
import type { ConnectionEnd } from './next-try.ts';

const HANDSHAKE_MS = 15_000;
/** Of a refusal's body. */
const MAX_BODY_BYTES = 16_384;

export type SocketOptions = {
  /** The service's address, `https://…` or `http://…`. */
  readonly server: string;
  readonly token: string;
  readonly agentId: string;
};

export type OpenSocket = { readonly socket: WebSocket; readonly line: Line };

/** Connects to the service. Returns why not, when it does not. `drained`: the line takes more. */
export async function openSocket(
  { server, token, agentId }: SocketOptions,
  drained: () => void,
): Promise<OpenSocket | ConnectionEnd> {
  const url = new URL(`api/agents/connect?agent=${agentId}`, server.endsWith('/') ? server : `${server}/`);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(url, [AGENT_PROTOCOL], {
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  const refusal = new Promise<ConnectionEnd>((resolve, reject) => {
    socket.once('unexpected-response', (_request, answer) => void refused(answer).then(resolve, reject));
  });
  const end = await Promise.race([
    once(socket, 'open').then(() => null),
    refusal,
    once(socket, 'close').then((): ConnectionEnd => ({ kind: 'broken', words: 'the connection broke' })),
  ]).catch((error: unknown): ConnectionEnd => ({ kind: 'broken', words: wordsOf(error) }));
  // errors are followed by 'close'
  socket.on('error', () => {});
  if (end === null) return { socket, line: lineOf(socket, drained) };
  socket.terminate();
  return end;
}

const wordsOf = (error: unknown): string => {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || code || String(error);
};

async function refused(answer: IncomingMessage): Promise<ConnectionEnd> {
  let body = '';
  for await (const chunk of answer.setEncoding('utf8')) {
    body += chunk;
    if (body.length > MAX_BODY_BYTES) break;
  }
  const { error, code } = parsed(body);
  const seconds = Number(answer.headers['retry-after']);
  return {
    kind: 'refused',
    status: answer.statusCode ?? 0,
    code: typeof code === 'string' ? code : null,
    words: typeof error === 'string' ? error : `status ${answer.statusCode}`,
    retryAfterSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : null,
  };
}

function parsed(body: string): { readonly error?: unknown; readonly code?: unknown } {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

const lineOf = (socket: WebSocket, drained: () => void): Line => ({
  send: (message) => {
    if (socket.readyState === socket.OPEN) socket.send(message, { binary: true }, drained);
  },
  get bufferedBytes() {
    return socket.bufferedAmount;
  },
});
