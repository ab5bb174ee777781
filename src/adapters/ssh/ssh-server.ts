import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import ssh2, { type Connection } from 'ssh2';
import type { HostKey } from '../../app/identity/auth/ssh-host-keys.ts';
import type { Authenticated } from '../../app/identity/auth/verified-credential.ts';
import type { SshSignIn } from '../../app/identity/sign-in/ssh-sign-in.ts';
import type { SshConnections } from '../../app/terminals/ssh/ssh-connections.ts';
import type { SshPrograms } from '../../app/terminals/ssh/ssh-programs.ts';
import { SSH_LIMITS } from '../../domain/terminals/ssh.ts';
import type { Logger } from '../../ports/logger.ts';
import { authentication } from './authentication.ts';
import { Carrier } from './carrier.ts';
import { serveClient } from './client-channels.ts';
import { postQuantumExchanges, preferPostQuantum } from './key-exchange.ts';

export type SshServerDeps = {
  readonly signIn: SshSignIn;
  readonly connections: SshConnections;
  readonly programs: SshPrograms;
  /** The installation's keys, made when they do not exist. */
  readonly hostKeys: () => Promise<readonly HostKey[]>;
  readonly log: Logger;
};

/** Where a connection comes from. `entered`: it is signed in already, for one container. */
export type SshPeer = {
  readonly ipAddress: string;
  readonly entered: { readonly signedIn: Authenticated; readonly wanted: string } | null;
  /** Called when the client has signed in. */
  readonly admitted: () => void;
};

export type SshServer = ReturnType<typeof sshServer>;

const ALGORITHMS = {
  kex: ['curve25519-sha256', 'curve25519-sha256@libssh.org', 'ecdh-sha2-nistp256'],
  serverHostKey: ['ssh-ed25519', 'rsa-sha2-512'],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'chacha20-poly1305@openssh.com'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com'],
  compress: ['none'],
} as const;
const KEEPALIVE_MS = 30_000;
const MISSED_KEEPALIVES = 3;

/** Speaks SSH over given byte streams, however they came. */
export function sshServer(deps: SshServerDeps) {
  const peers = new WeakMap<object, SshPeer>();
  let made: Promise<ssh2.Server> | null = null;

  async function make(): Promise<ssh2.Server> {
    const kex = [...postQuantumExchanges(), ...ALGORITHMS.kex];
    const settings = {
      hostKeys: (await deps.hostKeys()).map(({ privateKey }) => privateKey),
      ident: 'Berth',
      algorithms: { ...ALGORITHMS, kex } as unknown as ssh2.Algorithms,
      keepaliveInterval: KEEPALIVE_MS,
      keepaliveCountMax: MISSED_KEEPALIVES,
    };
    const server = new ssh2.Server(settings, (connection, { header }) => {
      // The package keeps what it was given.
      const { _sock: socket } = connection as unknown as { _sock: Duplex };
      const peer = peers.get(socket);
      if (peer === undefined) return void connection.end();
      preferPostQuantum(connection);
      serve(deps, connection, { socket, peer, software: header.identRaw ?? '' });
    });
    server.on('error', (err: Error) => deps.log.warn({ err }, 'the SSH server failed'));
    return server;
  }

  return {
    /** Serves a connection until it ends. Never throws: a failure ends that connection alone. */
    accept(socket: Duplex, peer: SshPeer): void {
      socket.on('error', (err) => deps.log.info({ err }, 'an SSH connection failed'));
      const { signInSeconds, handshakeSeconds } = SSH_LIMITS;
      const withinSeconds = peer.entered === null ? signInSeconds : handshakeSeconds;
      const late = setTimeout(() => socket.destroy(), withinSeconds * 1000).unref();
      const admitted = (): void => {
        clearTimeout(late);
        peer.admitted();
      };
      socket.once('close', admitted);
      peers.set(socket, { ...peer, admitted });
      made ??= make().catch((error: unknown) => {
        made = null;
        throw error;
      });
      made.then(
        (server) => server.injectSocket(socket as never),
        (err: unknown) => {
          deps.log.error({ err }, 'could not serve an SSH connection');
          socket.destroy();
        },
      );
    },

    closeAll: deps.connections.closeAll,
    over: deps.connections.over,
  };
}

type Served = { readonly socket: Duplex; readonly peer: SshPeer; readonly software: string };

const MAX_SOFTWARE = 200;
const softwareOf = (ident: string): string => ident.replace(/[^\x20-\x7e]/g, '').slice(0, MAX_SOFTWARE);

function serve(deps: SshServerDeps, connection: Connection, { socket, peer, software }: Served): void {
  const { log, connections, programs, signIn } = deps;
  const ipAddress = isIP(peer.ipAddress) ? peer.ipAddress : '';
  const origin = { ipAddress, userAgent: softwareOf(software) };
  const carrier = new Carrier(socket);
  const close = (): void => {
    carrier.close();
    hangUp(connection, socket);
  };
  connection.on('error', (err) => log.info({ err }, 'an SSH connection failed'));

  async function enter(signedIn: Authenticated, wanted: string): Promise<void> {
    const entered = await connections.connect({ signedIn, origin, wanted, close });
    peer.admitted();
    if (!entered.ok) setTimeout(close, REFUSED_MS).unref();
    serveClient(connection, { wanted, entered, programs, carrier, log, close });
  }

  const keys = authentication({
    signIn,
    origin,
    log,
    signedIn: enter,
    giveUp: close,
  });
  socket.once('close', keys.over);
  connection.on('authentication', (context) => {
    const { entered } = peer;
    if (entered === null) return keys.answer(context);
    enter(entered.signedIn, entered.wanted).then(
      () => context.accept(),
      (err: unknown) => {
        log.error({ err }, 'an SSH connection could not start');
        close();
      },
    );
  });
}

/** How long a refused client may read why. */
const REFUSED_MS = 5_000;
const LINGER_MS = 200;

/** Says goodbye, and does not wait for a client that does not listen. */
function hangUp(connection: Connection, socket: Duplex): void {
  try {
    connection.end();
  } catch {
    // A connection before its key exchange has nothing to say.
  }
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
