import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type ListenOptions, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { aFolder } from '../folder.ts';

/**
 * Takes connections until `t` ends and makes one to the far side for each; `join` decides what passes from one end to
 * the other.
 */
async function relay(
  t: Test,
  at: ListenOptions,
  toFar: () => Socket,
  join: (from: Socket, into: Socket) => void,
) {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = toFar();
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('error', () => {}).once('close', () => open.delete(from));
      join(from, into);
    }
  });
  server.listen(at);
  await once(server, 'listening');
  const hangUp = (): void => {
    for (const socket of open) socket.destroy();
  };
  t.teardown(() => {
    hangUp();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, open, hangUp };
}

const ANY_PORT = { host: '127.0.0.1', port: 0 };

export type CutLine = {
  /** The address of the database, by way of this line. */
  readonly url: string;
  /** Ends every connection and takes no new ones. */
  cut(): void;
  /** Carries nothing any more, without a word to either side. */
  stall(): void;
  mend(): void;
};

/** A line to a database behind a unix socket that can be cut or fall silent. */
export async function aLineTo(t: Test, url: string): Promise<CutLine> {
  const target = new URL(url.replace('@/', '@socket/'));
  const name = '.s.PGSQL.5432';
  const real = path.join(target.searchParams.get('host') ?? '', name);
  const folder = aFolder(t, 0o711);
  let state: 'up' | 'cut' | 'silent' = 'up';
  const at = { path: path.join(folder, name) };
  const { hangUp } = await relay(
    t,
    at,
    () => dial(real),
    (from, into) => {
      from.once('close', () => into.destroy());
      from.on('data', (chunk) => state === 'silent' || into.write(chunk));
      if (state === 'cut') from.destroy();
    },
  );
  return {
    url: url.replace(/host=[^&]*/, `host=${encodeURIComponent(folder)}`),
    cut: () => {
      state = 'cut';
      hangUp();
    },
    stall: () => {
      state = 'silent';
    },
    // Connections on which bytes were lost are of no use any more.
    mend: () => {
      if (state === 'silent') hangUp();
      state = 'up';
    },
  };
}

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
  let target = new URL('http://127.0.0.1:1');
  let isSilent = false;
  const { host, hangUp } = await relay(
    t,
    ANY_PORT,
    () => dial(Number(target.port), target.hostname),
    (from, into) => {
      from.on('data', (chunk) => isSilent || into.write(chunk));
      from.once('close', () => isSilent || into.destroy());
    },
  );
  return {
    origin: `http://${host}`,
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

export type CuttingProxy = {
  /** `host:port` */
  readonly host: string;
  readonly cuts: () => number;
  /** Begins to cut; it does so from the start unless `isCalm`. */
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
  const { host, open } = await relay(
    t,
    ANY_PORT,
    () => dial(Number(to.port), to.hostname),
    (from, into) => {
      from.once('close', () => into.destroy());
      void carry(from, into, bytesPerMs, delayMs).catch(() => from.destroy());
    },
  );
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
  t.teardown(() => clearInterval(cutting));
  return { host, cuts: () => cuts, begin, calm: () => clearInterval(cutting) };
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
