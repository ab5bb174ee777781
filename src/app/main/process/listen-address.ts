import { createServer } from 'node:net';

/** Throws a readable error when the port is taken, before anything is started. `settings`: what its settings begin with. */
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

const WILDCARD = new Set(['0.0.0.0', '::']);

/** The address of a server listening there. */
export function addressOf(host: string, port: number): string {
  const name = WILDCARD.has(host) ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** The printed address, and the loopback names with the same port. */
export function originsOf(address: string): readonly string[] {
  const { protocol, port, origin } = new URL(address);
  const at = port === '' ? '' : `:${port}`;
  return [origin, `${protocol}//127.0.0.1${at}`, `${protocol}//localhost${at}`];
}
