import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type ListenOptions, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { aFolder } from '../folder.ts';

/** Accepts connections until `t` ends, each connected to the far side; `join` decides what passes. */
export async function relay(
  t: Test,
  at: ListenOptions,
  toFar: () => Socket,
  join: (from: Socket, into: Socket) => void,
  allowHalfOpen = false,
) {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen }, (near) => {
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

export const ANY_PORT = { host: '127.0.0.1', port: 0 };

/** A line to a service that can be cut; while it is down, new connections are cut too. */
export async function lineToService(t: Test, server: string) {
  const { hostname, port } = new URL(server);
  const state = { isDown: false };
  const toFar = () => dial(Number(port), hostname);
  const line = await relay(t, ANY_PORT, toFar, (from, into) => {
    if (state.isDown) from.destroy();
    from.once('close', () => into.destroy()).pipe(into);
  });
  return { ...line, state };
}

export type CutLine = {
  /** The database's address through this proxy. */
  readonly url: string;
  /** Ends every connection and accepts no new ones. */
  cut(): void;
  /** Passes nothing, silently. */
  stall(): void;
  restore(): void;
};

/** A proxy before a database on a unix socket, which can cut connections or fall silent. */
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
    // Connections with lost bytes are useless.
    restore: () => {
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
  /** Passes nothing, silently; new connections open and stay silent too. */
  fallSilent(): void;
  /** Passes data again. Swallowed data is lost, so open connections end. */
  recover(): void;
};

/** A proxy before a service that can drop packets, without either side noticing. */
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

/** `end`: as if everything had been sent. */
export type Break = 'end' | 'reset';

export type EngineLine = {
  readonly host: string;
  readonly port: number;
  /** Breaks every connection; `down` takes no new ones until `restore`. */
  cut(how: Break, then?: 'up' | 'down'): void;
  /** Until `restore`: breaks a connection when the engine sends matching bytes, and drops those bytes. */
  cutBefore(words: RegExp, how: Break): void;
  restore(): void;
};

/** A line to an engine's unix socket that can break. */
export async function aLineToEngine(t: Test, endpoint: string): Promise<EngineLine> {
  let isUp = true;
  let trap: { readonly words: RegExp; readonly how: Break } | null = null;
  const { host, open } = await relay(
    t,
    ANY_PORT,
    () => dial({ path: endpoint.replace(/^unix:\/\//, ''), allowHalfOpen: true }),
    (from, into) => {
      if (!isUp) from.destroy();
      from.once('close', () => into.destroy()).once('end', () => into.end());
      from.on('data', (chunk: Buffer) => {
        // Only what a client would read; clients come over TCP.
        const isAnswer = into.remoteFamily !== undefined;
        if (!isAnswer || trap === null || !trap.words.test(chunk.toString('latin1')))
          return into.write(chunk);
        breakOff(into, trap.how);
      });
    },
    // The end of a command's input is no end of its output.
    true,
  );
  return {
    host: '127.0.0.1',
    port: Number(host.split(':')[1]),
    cut: (how, then = 'up') => {
      isUp = then === 'up';
      for (const socket of open) breakOff(socket, how);
    },
    cutBefore: (words, how) => {
      trap = { words, how };
    },
    restore: () => {
      isUp = true;
      trap = null;
    },
  };
}

/** A unix socket cannot be reset. */
const breakOff = (socket: Socket, how: Break): void =>
  void (how === 'reset' && socket.remoteFamily !== undefined ? socket.resetAndDestroy() : socket.destroy());

export type CuttingProxy = {
  /** `host:port` */
  readonly host: string;
  readonly cuts: () => number;
  /** Begins to cut; it does so from the start unless `isCalm`. */
  begin(): void;
  /** Stops cutting. */
  calm(): void;
};

/** `delayMs`: some pieces are split, and the second half is delayed by up to this. */
type Cutting = {
  readonly everyMs: number;
  readonly bytesPerMs: number;
  readonly delayMs?: number;
  readonly isCalm?: boolean;
};

/** A slow proxy before `to` that cuts connections constantly, with data in transit. */
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
  const calm = (): void => {
    clearInterval(cutting);
    cutting = undefined;
  };
  return { host, cuts: () => cuts, begin, calm };
}

type Wearing = {
  readonly bytesPerMs: number;
  /** The first connection breaks when it has carried the first number of bytes, and so on in a circle. */
  readonly afterBytes: readonly number[];
};

/**
 * A slow proxy before `to` whose connections break after so many bytes, both ways together, with the rest in transit. A
 * client makes progress on a machine of any speed.
 */
export async function wearingProxy(t: Test, to: URL, { bytesPerMs, afterBytes }: Wearing) {
  let cuts = 0;
  const lives = new WeakMap<Socket, { leftBytes: number }>();
  const { host } = await relay(
    t,
    ANY_PORT,
    () => dial(Number(to.port), to.hostname),
    (from, into) => {
      from.once('close', () => into.destroy());
      const life = lives.get(into) ?? { leftBytes: afterBytes[cuts % afterBytes.length] ?? 0 };
      lives.set(from, life);
      const passes = (chunk: Buffer): Buffer => {
        const part = chunk.subarray(0, life.leftBytes);
        life.leftBytes -= part.length;
        return part;
      };
      const wornOut = (): void => {
        cuts += 1;
        for (const socket of [from, into]) cuts % 2 === 0 ? socket.destroy() : socket.resetAndDestroy();
      };
      from.on('data', async (chunk: Buffer) => {
        if (into.destroyed) return;
        into.write(passes(chunk));
        if (life.leftBytes === 0) return wornOut();
        from.pause();
        await delay(chunk.length / bytesPerMs);
        from.resume();
      });
    },
  );
  return { host, cuts: () => cuts };
}

async function carry(from: Socket, into: Socket, bytesPerMs: number, delayMs: number): Promise<void> {
  for await (let chunk of from as AsyncIterable<Buffer>) {
    if (delayMs > 0 && Math.random() < 0.05) {
      const at = Math.floor(Math.random() * chunk.length);
      into.write(chunk.subarray(0, at));
      // The simulated delay of the connection.
      await delay(Math.random() * delayMs);
      chunk = chunk.subarray(at);
    }
    if (!into.write(chunk)) await once(into, 'drain');
    // The simulated speed.
    if (chunk.length > bytesPerMs) await delay(chunk.length / bytesPerMs);
  }
  into.end();
}
