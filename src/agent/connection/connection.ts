import { PING_EVERY_MS, SILENT_LINE_MS } from '../../protocol/agent/index.ts';
import type { ConnectionEnd } from './next-try.ts';
import type { ServiceSession } from './service-session.ts';
import { type OpenSocket, openSocket, type SocketOptions } from './socket-line.ts';
import { watchSilence } from './watch-silence.ts';

/** Little that has arrived is acknowledged after this. */
const ACKNOWLEDGE_MS = 50;
const WELCOME_MS = 15_000;

export type ConnectionOptions = SocketOptions & {
  readonly session: ServiceSession;
  readonly connected: (resumed: boolean) => void;
  /** Aborted when the agent is to end. */
  readonly signal: AbortSignal;
};

/** Connects once, and serves the session until the connection is over. Returns why. Never throws. */
export async function connection(options: ConnectionOptions): Promise<ConnectionEnd> {
  const opened = await openSocket(options, () => options.session.pump());
  if (!('socket' in opened)) return opened;
  const end = await served(opened, options);
  options.session.detach();
  opened.socket.close();
  const closed = setTimeout(() => opened.socket.terminate(), 1_000).unref();
  opened.socket.once('close', () => clearTimeout(closed));
  return end;
}

const served = ({ socket, line }: OpenSocket, { session, connected, signal }: ConnectionOptions) =>
  new Promise<ConnectionEnd>((resolve) => {
    let isWelcome = false;
    let acknowledge: NodeJS.Timeout | null = null;
    const pings = setInterval(() => session.ping(), PING_EVERY_MS);
    const silence = watchSilence({
      limitMs: () => (isWelcome ? SILENT_LINE_MS : WELCOME_MS),
      ping: () => session.ping(),
      isSilent: (words) => {
        finish({ kind: 'broken', words });
        socket.terminate();
      },
    });
    const finish = (end: ConnectionEnd): void => {
      clearInterval(pings);
      silence.stop();
      if (acknowledge !== null) clearTimeout(acknowledge);
      socket.removeAllListeners('message');
      signal.removeEventListener('abort', stop);
      resolve(end);
    };
    const stop = (): void => {
      session.close();
      finish({ kind: 'broken', words: 'the agent ends' });
    };
    const first = (message: Uint8Array): void => {
      const answer = session.welcome(message, line);
      isWelcome = answer.kind === 'welcomed';
      if (answer.kind === 'welcomed') connected(answer.resumed);
      else finish(answer);
    };
    socket.on('message', (data: Buffer) => {
      silence.heard();
      if (!isWelcome) {
        first(data);
        return;
      }
      const end = session.receive(data);
      if (end !== null) finish(end);
      acknowledge ??= setTimeout(() => {
        acknowledge = null;
        session.flush();
      }, ACKNOWLEDGE_MS);
    });
    socket.once('close', (code, reason) => finish(closeOf(code, reason)));
    signal.addEventListener('abort', stop);
    socket.send(session.greeting());
  });

/** A close without a closing message: its reason is the word, as far as the service gives one. */
const closeOf = (code: number, reason: Buffer): ConnectionEnd =>
  reason.length === 0
    ? { kind: 'broken', words: `the connection was closed (${code})` }
    : { kind: 'closed', reason: reason.toString(), words: '' };
