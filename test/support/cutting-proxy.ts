import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, connect as dial, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';

export type CuttingProxy = {
  /** `host:port` */
  readonly host: string;
  readonly cuts: () => number;
  /** Begins to cut; unless told otherwise it does so from the start. */
  begin(): void;
  /** No more cuts from now on. */
  calm(): void;
};

/** `delayMs`: some pieces are torn in two, and the second half comes up to so much later. */
type Cutting = {
  readonly everyMs: number;
  readonly bytesPerMs: number;
  readonly delayMs?: number;
  readonly isCalm?: boolean;
};

/** A line to `to` that is slow and breaks all the time, with whatever is under way on it. */
export async function cuttingProxy(
  t: Test,
  to: URL,
  { everyMs, bytesPerMs, delayMs = 0, isCalm = false }: Cutting,
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
      void carry(from, into, bytesPerMs, delayMs).catch(() => from.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let cuts = 0;
  const cut = (): void => {
    if (open.size > 0) cuts += 1;
    for (const socket of open) cuts % 2 === 0 ? socket.destroy() : socket.resetAndDestroy();
  };
  let cutting: NodeJS.Timeout | undefined;
  const begin = (): void => {
    cutting ??= setInterval(cut, everyMs);
  };
  if (!isCalm) begin();
  t.teardown(() => {
    clearInterval(cutting);
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, cuts: () => cuts, begin, calm: () => clearInterval(cutting) };
}

async function carry(from: Socket, into: Socket, bytesPerMs: number, delayMs: number): Promise<void> {
  for await (let chunk of from as AsyncIterable<Buffer>) {
    if (delayMs > 0 && Math.random() < 0.05) {
      const at = Math.floor(Math.random() * chunk.length);
      into.write(chunk.subarray(0, at));
      // The line itself is slow; nothing is waited for.
      await delay(Math.random() * delayMs);
      chunk = chunk.subarray(at);
    }
    if (!into.write(chunk)) await once(into, 'drain');
    // Its speed.
    if (chunk.length > bytesPerMs) await delay(chunk.length / bytesPerMs);
  }
  into.end();
}
