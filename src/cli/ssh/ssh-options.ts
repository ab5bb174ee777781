import type { Target } from '../profiles/target.ts';

/** The ending of container names as SSH hosts. */
export const HOST_ENDING = '.berth';

/** How SSH names the service's host keys. */
export const hostKeyAlias = (server: string): string => `berth_${new URL(server).host.replaceAll(':', '_')}`;

/** A word of a command line as a POSIX shell reads it. */
const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/**
 * The command by which SSH reaches a container: this one, with `--stdio`. `container` may be `%n`. SSH replaces its own
 * marks first, so a percent sign is doubled.
 */
export function proxyCommand(container: string, more: readonly string[] = []): string {
  const [node = process.execPath, script = ''] = [process.execPath, process.argv[1]];
  const words = [node, script, 'ssh', '--stdio', ...more].map((word) => quoted(word.replaceAll('%', '%%')));
  return [...words, container].join(' ');
}

/** Who asks, for the command that SSH starts: never an argument, which others could read. */
export function asVariables(target: Target): Readonly<Record<string, string>> {
  const { server } = target;
  const none = { BERTH_SERVER: '', BERTH_TOKEN: '', BERTH_PROFILE: '' };
  if (target.kind === 'given') return { ...none, BERTH_SERVER: server, BERTH_TOKEN: target.token };
  return target.kind === 'profile'
    ? { ...none, BERTH_PROFILE: target.name }
    : { ...none, BERTH_SERVER: server };
}

/** As SSH reads a path: it splits at spaces, and replaces its own marks. */
const quotedPath = (file: string): string => `"${file.replaceAll('%', '%%').replace(/["\\]/g, '\\$&')}"`;

/** The settings of a connection over HTTPS, each `Name value`. */
export const sshSettings = (server: string, knownHosts: string): readonly string[] => [
  'User berth',
  `HostKeyAlias ${hostKeyAlias(server)}`,
  `UserKnownHostsFile ${quotedPath(knownHosts)}`,
  'StrictHostKeyChecking yes',
  'ServerAliveInterval 20',
  'ServerAliveCountMax 6',
];
