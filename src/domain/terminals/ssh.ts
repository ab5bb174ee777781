/** Limits of SSH connections, in each process. */
export const SSH_LIMITS = {
  connectionsPerUser: 10,
  channelsPerConnection: 64,
  /** A channel may hold 2 MiB that a program has not read yet. */
  channelsPerUser: 128,
  /** Remote and agent forwards. */
  listenersPerUser: 20,
  signInSeconds: 30,
  signInTries: 6,
  /** Connections that have not signed in yet: of one address, and of all. */
  pendingPerAddress: 20,
  pending: 200,
  variables: 64,
  variableBytes: 16_384,
} as const;

const PASSED_VARIABLES = /^(LANG|LC_[A-Z_]+|COLORTERM|GIT_[A-Z0-9_]+)$/;

/** Whether a client's variable reaches its program. Others could change how the program itself is found or loaded. */
export const isPassedVariable = (name: string): boolean => PASSED_VARIABLES.test(name);

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

/** Where connections inside the container are accepted for the client. `private`: for its SSH agent. Port 0: a free one. */
export type SshListening = SshDestination | { readonly kind: 'private' };

/** Always on the container's loopback: null for an address that is another's. */
export function sshListening(host: string, port: number, containerName: string): SshListening | null {
  const asked = sshDestination(host === '*' ? '' : host, port === 0 ? 1 : port, containerName);
  return asked === null ? null : { kind: 'port', port };
}

/** The audit's word for a destination. */
export const destinationName = (to: SshDestination): string =>
  to.kind === 'port' ? String(to.port) : to.path;
