import { sshFingerprint } from './ssh-key.ts';

/** One of each: some clients know RSA alone. */
export const HOST_KEY_TYPES = ['ssh-ed25519', 'ssh-rsa'] as const;
export type HostKeyType = (typeof HOST_KEY_TYPES)[number];

export const isHostKeyType = (type: string): type is HostKeyType =>
  HOST_KEY_TYPES.some((known) => known === type);

const SSH_PORT = 22;

/** A line of a `known_hosts` file. `publicKey` is `type base64`. */
export const knownHostsLine = (host: string, port: number, publicKey: string): string =>
  `${port === SSH_PORT ? host : `[${host}]:${port}`} ${publicKey}`;

/** As `ssh` shows it at the first connection. */
export const hostKeyFingerprint = (publicKey: string): string =>
  sshFingerprint(Buffer.from(publicKey.split(' ')[1] ?? '', 'base64'));
