/** Limits of SSH connections, in each process. */
export const SSH_LIMITS = {
  connectionsPerUser: 10,
  /** Channels of each connection that the user's other connections cannot use. */
  reservedChannels: 8,
  /** Remote and agent forwards. */
  listenersPerUser: 20,
  signInSeconds: 30,
  /** For a client that HTTP has signed in already: its machine may be slow. */
  handshakeSeconds: 120,
  signInTries: 6,
  /** Connections that have not signed in yet: of one address, and of all. */
  pendingPerAddress: 20,
  pending: 200,
  variables: 64,
  variableBytes: 16_384,
} as const;

/** Channels of one connection; the operator may set another number. Each may have 2 MiB that a program has not read. */
export const SSH_CHANNELS = { usual: 64, min: 8, max: 512 } as const;

/** The channels that all connections of a user share beyond the reserved ones: enough for two full connections. */
export const sharedChannels = (perConnection: number): number =>
  2 * Math.max(0, perConnection - SSH_LIMITS.reservedChannels);

const PASSED_VARIABLES = /^(LANG|LC_[A-Z_]+|COLORTERM|GIT_[A-Z0-9_]+)$/;

/** Whether a client's variable reaches its program. Others could change how the program itself is found or loaded. */
export const isPassedVariable = (name: string): boolean => PASSED_VARIABLES.test(name);

/** The variable by which a client names the session to show. Programs do not get it. */
export const SESSION_VARIABLE = 'BERTH_SESSION';

export const isSessionName = (name: string): boolean => /^[A-Za-z0-9_-]{1,32}$/.test(name);

/** Where a connection is forwarded to, inside the container. */
export type SshDestination =
  | { readonly kind: 'port'; readonly port: number }
  | { readonly kind: 'socket'; readonly path: string };

const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1', '0.0.0.0', '::', '']);

/** Only the container's own loopback: null for any other host. */
export function sshDestination(host: string, port: number, containerName: string): SshDestination | null {
  const isOwn = LOOPBACK.has(host.toLowerCase()) || host.toLowerCase() === containerName.toLowerCase();
  return isOwn && Number.isInteger(port) && port > 0 && port < 65_536 ? { kind: 'port', port } : null;
}

const MAX_SOCKET_PATH = 107;

/** null for a path that no UNIX socket can have. */
export const sshSocket = (path: string): SshDestination | null =>
  path.startsWith('/') && !/\p{Cc}/u.test(path) && Buffer.byteLength(path) <= MAX_SOCKET_PATH
    ? { kind: 'socket', path }
    : null;

/**
 * Where connections inside the container are accepted for the client. `private`: for its SSH agent. Port 0: a free one.
 */
export type SshListening = SshDestination | { readonly kind: 'private' };

/** The listener's address, always on the container's loopback; null for an address elsewhere. */
export function sshListening(host: string, port: number, containerName: string): SshListening | null {
  const asked = sshDestination(host === '*' ? '' : host, port === 0 ? 1 : port, containerName);
  return asked === null ? null : { kind: 'port', port };
}

/** The audit's word for a destination. */
export const destinationName = (to: SshDestination): string =>
  to.kind === 'port' ? String(to.port) : to.path;
