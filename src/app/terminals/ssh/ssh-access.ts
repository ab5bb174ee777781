import { hostKeyFingerprint, knownHostsLine } from '../../../domain/identity/ssh-host-key.ts';
import { mayExec } from '../../containers/inside/exec.ts';
import type { AccessDeps } from '../../containers/inside/running-container.ts';
import type { HostKey } from '../../identity/auth/ssh-host-keys.ts';

export type SshDoorDeps = Pick<AccessDeps, 'storage' | 'clock'> & {
  readonly hostKeys: () => Promise<readonly HostKey[]>;
  /** The name to connect to. */
  readonly host: () => string;
  /** null while SSH works over HTTPS alone. */
  readonly port: () => number | null;
};

export type SshAccess = ReturnType<typeof sshAccess>;

/** How to connect, and whether a caller may. */
export const sshAccess = (deps: SshDoorDeps) => ({
  /** Whether the caller may connect to the container now. */
  check: mayExec(deps),

  /** The host keys, and the address to which they belong. */
  async describe() {
    const host = deps.host();
    const port = deps.port();
    const keys = (await deps.hostKeys()).map(({ type, publicKey }) => ({
      type,
      publicKey,
      fingerprint: hostKeyFingerprint(publicKey),
      knownHostsLine: knownHostsLine(host, port ?? SSH_PORT, publicKey),
    }));
    return { host, port, keys };
  },
});

const SSH_PORT = 22;
