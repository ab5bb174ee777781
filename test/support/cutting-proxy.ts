import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, connect as dial, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';

export type CuttingProxy = {
  /** `host:port` */
  readonly host: string;
  readonly cuts: () => number;
  /** No more cuts from now on. */
  calm(): void;
};

type Cutting = { readonly everyMs: number; readonly bytesPerMs: number };

/** A line to `to` that is slow and breaks all the time, with whatever is under way on it. */
export async function cuttingProxy(
  t: Test,
  to: URL,
  { everyMs, bytesPerMs }: Cutting,
): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = dial(Number(to.port), to.hostname);
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('error', () => {});
      from.once('close', () => {
        open.delete(from);
        into.destroy();
      });
      void carry(from, into, bytesPerMs).catch(() => from.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let cuts = 0;
  const cut = (): void => {
    if (open.size > 0) cuts += 1;
    for (const socket of open) cuts % 2 === 0 ? socket.destroy() : socket.resetAndDestroy();
  };
  const cutting = setInterval(cut, everyMs);
  t.teardown(() => {
    clearInterval(cutting);
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, cuts: () => cuts, calm: () => clearInterval(cutting) };
}

async function carry(from: Socket, into: Socket, bytesPerMs: number): Promise<void> {
  for await (const chunk of from as AsyncIterable<Buffer>) {
    if (!into.write(chunk)) await once(into, 'drain');
    if (chunk.length > bytesPerMs) await delay(chunk.length / bytesPerMs);
  }
  into.end();
}
