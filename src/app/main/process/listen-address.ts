import { createServer } from 'node:net';

/**
 * Throws a readable error when the port is taken, before anything is started. `settings`: what its settings begin with.
 */
export async function requireFreePort(host: string, port: number, settings = 'BERTH'): Promise<void> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen({ host, port }, resolve);
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new Error(`port ${port} is in use: set ${settings}_PORT to a free one`);
    throw new Error(
      `cannot listen on ${host}:${port} (${code}): check ${settings}_HOST and ${settings}_PORT`,
    );
  } finally {
    if (probe.listening) await new Promise((resolve) => probe.close(resolve));
  }
}

/** Hosts that a browser on this machine reaches as `localhost`, for which alone it makes passkeys without https. */
const LOCAL = new Set(['0.0.0.0', '::', '127.0.0.1', '::1']);

/** The address of a server listening there, for browsers on its machine. */
export function addressOf(host: string, port: number): string {
  const name = LOCAL.has(host) ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** The printed address, and the loopback names with the same port. */
export function originsOf(address: string): readonly string[] {
  const { protocol, port, origin } = new URL(address);
  const at = port === '' ? '' : `:${port}`;
  return [origin, `${protocol}//127.0.0.1${at}`, `${protocol}//localhost${at}`];
}

/** What the operator must do so that others can reach the service; null once its public address is set. */
export function stepForOthers(host: string, publicUrl: string | null): string | null {
  if (publicUrl !== null) return null;
  return isLoopback(host)
    ? 'Only this machine can reach it. To let others in, see docs/install.md: a service, https, a firewall.'
    : 'Others reach it without https. Put a proxy in front and set BERTH_PUBLIC_URL: see docs/install.md.';
}

const isLoopback = (host: string): boolean => /^(localhost|127\..*|::1)$/.test(host);
