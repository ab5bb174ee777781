import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { Test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ClusterAccess } from '../../../src/adapters/kubernetes/client/cluster-access.ts';
import { addressOf } from '../listen.ts';

/** The subprotocols of https://kubernetes.io/docs/reference/using-api/ "WebSocket streaming", as servers have them. */
export type ExecProtocol = 'v5.channel.k8s.io' | 'v4.channel.k8s.io';

export type ExecRequest = {
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
  readonly isTerminal: boolean;
  readonly url: string;
};

/** A program that stands for one in a Pod. */
export type ExecProgram = {
  readonly stdin: Writable;
  /** stdout, and stderr without a terminal. */
  readonly outputs: readonly Readable[];
  readonly exitCode: Promise<number>;
  resize(cols: number, rows: number): void;
  kill(): void;
};

export type ExecServer = {
  readonly access: ClusterAccess;
  readonly requests: ExecRequest[];
  /** Open connections. */
  readonly sockets: Set<WebSocket>;
  /** Refuses the next upgrade like an API server, or with a text as a kubelet. */
  refuseNext(status: number, body: object | string): void;
  /** Handles the next exec in place of `run`. */
  handleNext(handle: (socket: WebSocket, request: ExecRequest) => void): void;
};

type Options = {
  readonly run: (request: ExecRequest) => ExecProgram | Promise<ExecProgram>;
  readonly protocol: ExecProtocol;
  /** Whether it answers pings. */
  readonly autoPong?: boolean;
};

/** A server buffers this much for a client that does not read; further output waits. */
const BUFFERED_BYTES = 65_536;
const PATH = /\/namespaces\/([^/]+)\/pods\/([^/]+)\/exec$/;

/** An API server in this process that only has the exec of Pods, and programs that stand for theirs. */
export async function startExecServer(t: Test, { run, protocol, autoPong }: Options): Promise<ExecServer> {
  const server = createServer();
  const webSockets = new WebSocketServer({
    noServer: true,
    ...(autoPong === undefined ? {} : { autoPong }),
    handleProtocols: (asked) => (asked.has(protocol) ? protocol : false),
  });
  const refusals: { readonly status: number; readonly body: object | string }[] = [];
  const handlers: ((socket: WebSocket, request: ExecRequest) => void)[] = [];
  const requests: ExecRequest[] = [];
  const sockets = new Set<WebSocket>();
  const programs: ExecProgram[] = [];
  const start: Options['run'] = async (request) => {
    const program = await run(request);
    programs.push(program);
    return program;
  };
  server.on('upgrade', (message, raw, head) => {
    const refusal = refusals.shift();
    if (refusal !== undefined) {
      const body = typeof refusal.body === 'string' ? refusal.body : JSON.stringify(refusal.body);
      const lines = [
        `HTTP/1.1 ${refusal.status} x`,
        'content-type: application/json',
        `content-length: ${body.length}`,
      ];
      return void raw.end(`${lines.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`);
    }
    webSockets.handleUpgrade(message, raw, head, (socket) => {
      const request = requestOf(message);
      requests.push(request);
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket)).on('error', () => {});
      const handle = handlers.shift() ?? ((each, asked) => void relay(each, asked, start, protocol));
      handle(socket, request);
    });
  });
  const url = await addressOf(t, server);
  t.teardown(() => {
    for (const socket of sockets) socket.terminate();
    for (const program of programs) program.kill();
  });
  return {
    access: { server: url, namespace: 'berth', options: async () => ({ headers: {} }) },
    requests,
    sockets,
    refuseNext: (status, body) => void refusals.push({ status, body }),
    handleNext: (handle) => void handlers.push(handle),
  };
}

function requestOf({ url = '' }: IncomingMessage): ExecRequest {
  const { pathname, searchParams } = new URL(url, 'http://any');
  return {
    pod: PATH.exec(pathname)?.[2] ?? '',
    container: searchParams.get('container') ?? '',
    command: searchParams.getAll('command'),
    isTerminal: searchParams.get('tty') === 'true',
    url,
  };
}

const message = (channel: number, data: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from([channel]), Buffer.from(data)]);

/** The last message of an exec, as kubelets write it. */
export const endStatus = (code: number): Buffer =>
  message(
    3,
    JSON.stringify(
      code === 0
        ? { metadata: {}, status: 'Success' }
        : {
            metadata: {},
            status: 'Failure',
            message: `command terminated with non-zero exit code: exit status ${code}`,
            reason: 'NonZeroExitCode',
            details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
          },
    ),
  );

async function relay(
  socket: WebSocket,
  request: ExecRequest,
  run: Options['run'],
  protocol: ExecProtocol,
): Promise<void> {
  socket.pause();
  const program = await run(request);
  const { stdin, outputs } = program;
  stdin.on('error', () => {});
  socket.on('message', (data: Buffer) => {
    const channel = data[0];
    if (channel === 0 && !stdin.write(data.subarray(1))) {
      socket.pause();
      stdin.once('drain', () => socket.resume());
    }
    if (channel === 255 && data[1] === 0 && protocol === 'v5.channel.k8s.io') stdin.end();
    if (channel === 4) {
      const { Width, Height } = JSON.parse(data.subarray(1).toString());
      program.resize(Width, Height);
    }
  });
  // A lost client ends the input of a program, and a terminal goes on.
  socket.once('close', () => {
    if (!request.isTerminal) stdin.end();
    for (const output of outputs) output.resume();
  });
  socket.resume();
  await Promise.all(outputs.map((output, at) => send(socket, at + 1, output)));
  const code = await program.exitCode;
  // A kubelet that has input left closes the connection, by which the system resets it.
  if (stdin.writableLength > 0) return socket.terminate();
  socket.send(endStatus(code));
  socket.close(1000);
}

/** Ends with the output. */
async function send(socket: WebSocket, channel: number, output: Readable): Promise<void> {
  // A server opens each stream with an empty message.
  socket.send(message(channel, ''));
  output.on('data', (data: Buffer) => {
    socket.send(message(channel, data), () => {
      if (socket.bufferedAmount <= BUFFERED_BYTES) output.resume();
    });
    if (socket.bufferedAmount > BUFFERED_BYTES) output.pause();
  });
  await once(output, 'end').catch(() => {});
}
