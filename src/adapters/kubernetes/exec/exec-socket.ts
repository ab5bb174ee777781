import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import { failureOf } from '../client/api-failure.ts';
import type { ClusterAccess } from '../client/cluster-access.ts';

/** The newest first. Version 5, of Kubernetes 1.29 on, can end the input. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const OPEN_SECONDS = 30;
/** More than a server sends in one message. */
const MAX_MESSAGE_BYTES = 16 * 1_048_576;

/** A container of a Pod. */
export type PodContainer = { readonly pod: string; readonly container: string };

export type ExecTarget = PodContainer & {
  readonly command: readonly string[];
  readonly isTerminal: boolean;
};

/** An open exec. Messages are kept until someone listens. */
export type ExecSocket = { readonly socket: WebSocket; readonly canEndInput: boolean };

/** Throws the fault of the answer like `ApiClient`. */
export async function openExecSocket(access: ClusterAccess, target: ExecTarget): Promise<ExecSocket> {
  const { headers, ...options } = await access.options();
  const socket = new WebSocket(urlOf(access, target), PROTOCOLS, {
    ...options,
    headers,
    handshakeTimeout: OPEN_SECONDS * 1000,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  const opened = Promise.withResolvers<void>();
  socket.once('unexpected-response', (_request, answer) => {
    const { statusCode = 0 } = answer;
    // The connection is not ended: once its answer is read, it may already serve another call.
    void text(answer)
      .catch(() => '')
      .then((body) => opened.reject(failureOf(statusCode, body, answer.headers['retry-after'])));
  });
  socket.once('error', (error) => opened.reject(unreachable(error)));
  socket.once('open', () => {
    // Until it has a listener.
    socket.pause();
    opened.resolve();
  });
  await opened.promise;
  return { socket, canEndInput: socket.protocol === PROTOCOLS[0] };
}

/** The program gets its command only later, so an exec that was not confirmed has started nothing. */
const unreachable = (error: Error): Error =>
  new RuntimeUnavailable(`the cluster does not answer: ${error.message}`, { cause: error });

function urlOf(
  { server, namespace }: ClusterAccess,
  { pod, container, command, isTerminal }: ExecTarget,
): URL {
  const url = new URL(`${server}/api/v1/namespaces/${namespace}/pods/${pod}/exec`);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const flags = { stdin: true, stdout: true, stderr: !isTerminal, tty: isTerminal };
  url.searchParams.set('container', container);
  for (const [name, value] of Object.entries(flags)) url.searchParams.set(name, String(value));
  for (const word of command) url.searchParams.append('command', word);
  return url;
}
