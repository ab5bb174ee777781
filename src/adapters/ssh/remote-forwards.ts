import type { Connection, ServerChannel } from 'ssh2';
import { type SshListening, sshListening, sshSocket } from '../../domain/terminals/ssh.ts';
import type { InnerListener } from '../../ports/containers/inside/container-commands.ts';
import { openAgentChannel } from './agent-channel.ts';
import type { SignedInClient } from './client.ts';
import { listenFor, type OpenChannel } from './client-listener.ts';

/** A client's request to listen, or to stop listening: an address, or a path. */
type Asked = { readonly bindAddr: string; readonly bindPort: number } | { readonly socketPath: string };
type Done = (port?: number) => void;

const keyOf = (asked: Asked): string =>
  'socketPath' in asked ? asked.socketPath : `${asked.bindAddr} ${asked.bindPort}`;

/** Serves the client's `-R`: listeners in its container. */
export function serveRemoteForwards(connection: Connection, client: SignedInClient): void {
  const listeners = new Map<string, InnerListener>();

  async function listen(asked: Asked, done: Done, reject: () => void): Promise<void> {
    const name = client.connection.container?.name ?? '';
    const at: SshListening | null =
      'socketPath' in asked
        ? sshSocket(asked.socketPath)
        : sshListening(asked.bindAddr, asked.bindPort, name);
    const listener =
      at === null || listeners.has(keyOf(asked))
        ? null
        : await listenFor(client, at, backTo(connection, asked));
    if (listener === null) return reject();
    const { address, closed } = listener;
    const bindPort = address.kind === 'port' ? address.port : 0;
    const key = keyOf('socketPath' in asked ? asked : { ...asked, bindPort });
    listeners.set(key, listener);
    void closed.then(() => listeners.get(key) === listener && listeners.delete(key));
    if ('bindPort' in asked && asked.bindPort === 0) done(bindPort);
    else done();
  }

  function stop(asked: Asked, done: Done, reject: () => void): void {
    const listener = listeners.get(keyOf(asked));
    listeners.delete(keyOf(asked));
    listener?.stop();
    if (listener === undefined) reject();
    else done();
  }

  connection.on('request', (accept, reject, name, asked) => {
    const refuse = (): void => reject?.();
    const done: Done = (port) => accept?.(port);
    switch (name as string) {
      case 'tcpip-forward':
      case 'streamlocal-forward@openssh.com':
        return void listen(asked, done, refuse);
      case 'cancel-tcpip-forward':
      case 'cancel-streamlocal-forward@openssh.com':
        return stop(asked, done, refuse);
      default:
        return refuse();
    }
  });
}

/** The key of a listener: the address as the client asked for it. */
const backTo =
  (connection: Connection, asked: Asked): OpenChannel =>
  ({ address }) =>
    new Promise<ServerChannel>((resolve, reject) => {
      const opened = (error: Error | undefined, channel: ServerChannel): void =>
        error ? reject(error) : resolve(channel);
      if ('socketPath' in asked) connection.openssh_forwardOutStreamLocal(asked.socketPath, opened);
      else {
        const port = address.kind === 'port' ? address.port : asked.bindPort;
        connection.forwardOut(asked.bindAddr, port, '127.0.0.1', 0, opened);
      }
    });

/** The path of the socket that reaches the client's SSH agent, made when first asked for; null when that fails. */
export function agentSocket(connection: Connection, client: SignedInClient): () => Promise<string | null> {
  let made: Promise<string | null> | null = null;
  const make = async (): Promise<string | null> => {
    const listener = await listenFor(client, { kind: 'private' }, () => openAgentChannel(connection));
    if (listener?.address.kind === 'socket') return listener.address.path;
    made = null;
    return null;
  };
  return () => {
    made ??= make();
    return made;
  };
}
