import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import type { Test } from 'tap';

export type SilencingProxy = {
  /** `http://host:port` */
  readonly origin: string;
  /** The service behind it. */
  leadTo(address: string): void;
  /** Carries nothing any more, without a word to either side; new connections open and stay silent as well. */
  fallSilent(): void;
  /** Carries again. What was swallowed is lost, so connections that were open end. */
  recover(): void;
};

/** A line to a service that can go dead as one does whose packets are dropped: no side learns of it. */
export async function silencingProxy(t: Test): Promise<SilencingProxy> {
  const open = new Set<Socket>();
  let target = new URL('http://127.0.0.1:1');
  let isSilent = false;
  const server = createServer((near) => {
    const far = dial(Number(target.port), target.hostname);
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('error', () => {});
      from.on('data', (chunk) => isSilent || into.write(chunk));
      from.once('close', () => {
        open.delete(from);
        if (!isSilent) into.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hangUp = (): void => {
    for (const socket of open) socket.destroy();
  };
  t.teardown(() => {
    hangUp();
    server.close();
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (address) => {
      target = new URL(address);
    },
    fallSilent: () => {
      isSilent = true;
    },
    recover: () => {
      isSilent = false;
      hangUp();
    },
  };
}
