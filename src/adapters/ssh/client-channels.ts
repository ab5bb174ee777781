import type { Connection, ServerChannel } from 'ssh2';
import type { SshConnection } from '../../app/terminals/ssh/ssh-connections.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { Result } from '../../domain/result.ts';
import { type SshDestination, sshDestination, sshSocket } from '../../domain/terminals/ssh.ts';
import { EXIT, refusalWords, type SessionClient, type SignedInClient, unknownWords } from './client.ts';
import { forward } from './forward-channel.ts';
import { agentSocket, serveRemoteForwards } from './remote-forwards.ts';
import { serveSession } from './session-channel.ts';

export type EnteredClient = Omit<SignedInClient, 'connection'> & {
  readonly wanted: string;
  readonly entered: Result<SshConnection, DomainError>;
};

/** Serves the channels of a signed-in client. One that has none to be served still learns why. */
export function serveClient(connection: Connection, given: EnteredClient): void {
  const { entered, wanted, carrier } = given;
  if (!entered.ok) {
    connection.on('request', (_accept, reject) => reject?.());
    refuseAll(connection, refusalWords(entered.error, wanted));
    return;
  }
  const { container, names, takeChannel, end } = entered.value;
  const client: SignedInClient = { ...given, connection: entered.value };
  const sessions: SessionClient = { ...client, agentSocket: agentSocket(connection, client) };
  const words = container === null ? unknownWords(wanted, names) : null;
  carrier.atEnd(() => end(carrier.bytes));
  connection.on('session', (accept, reject) => {
    const taken = takeChannel();
    if (!taken.ok) {
      reject();
      return;
    }
    const session = accept();
    const forget = carrier.atEnd(taken.value);
    session.once('close', () => {
      forget();
      taken.value();
    });
    serveSession(session, sessions, words);
  });
  serveRemoteForwards(connection, client);
  const open = (to: SshDestination | null, accept: () => ServerChannel, reject: () => void): void =>
    void forward(client, to, accept, reject);
  connection.on('tcpip', (accept, reject, { destIP, destPort }) =>
    open(sshDestination(destIP, destPort, container?.name ?? ''), accept, reject),
  );
  connection.on('openssh.streamlocal', (accept, reject, { socketPath }) =>
    open(sshSocket(socketPath), accept, reject),
  );
}

function refuseAll(connection: Connection, words: string): void {
  const say = (accept: () => ServerChannel): void => {
    const channel = accept();
    channel.stderr.write(`${words}\r\n`);
    channel.exit(EXIT.failed);
    channel.end();
  };
  connection.on('session', (accept) => accept().on('shell', say).on('exec', say).on('subsystem', say));
}
