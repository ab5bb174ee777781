import { type AddressInfo, createServer, type Socket } from 'node:net';
import { countsByKey } from '../../app/identity/limits/counts-by-key.ts';
import { clientNetworkOf } from '../../domain/identity/login-throttle.ts';
import { SSH_LIMITS } from '../../domain/terminals/ssh.ts';
import type { Logger } from '../../ports/logger.ts';
import type { SshServer } from './ssh-server.ts';

/** Accepts SSH connections on a port. Few may be open that have not signed in yet: of one address, and of all. */
export function sshListener(server: Pick<SshServer, 'accept'>, log: Logger) {
  const pending = countsByKey();
  const accept = (socket: Socket): void => {
    const ipAddress = socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
    const { address } = clientNetworkOf(ipAddress);
    const ofAll = pending.take('', SSH_LIMITS.pending);
    const ofAddress = pending.take(`address ${address}`, SSH_LIMITS.pendingPerAddress);
    const admitted = (): void => {
      ofAll?.();
      ofAddress?.();
    };
    if (ofAll === null || ofAddress === null) {
      admitted();
      socket.destroy();
      return;
    }
    server.accept(socket, { ipAddress, entered: null, admitted });
  };
  const listener = createServer({ noDelay: true, keepAlive: true }, accept);
  return {
    /** Throws when it cannot. */
    async listen(host: string, port: number): Promise<void> {
      await new Promise<void>((resolve, reject) => {
        listener.once('error', reject);
        listener.listen({ host, port }, resolve);
      });
      listener.on('error', (err) => log.error({ err }, 'the SSH port failed'));
    },

    /** Where it listens; null while it does not. */
    address: (): AddressInfo | null => listener.address() as AddressInfo | null,

    /** Accepts no more. */
    close: (): void => void (listener.listening && listener.close()),
  };
}
