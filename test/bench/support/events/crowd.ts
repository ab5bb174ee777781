/** Subscribers of a process's events. */
import { WebSocket } from 'ws';
import { nowMs, type Server } from '../servers.ts';

const AT_ONCE = 100;
const PATIENCE_MS = 30_000;

export type Crowd = { readonly sockets: readonly WebSocket[]; received: number; lastAtMs: number };

export const protocols = (token: string): string[] => ['berth.events.v1', `bearer.${token}`];

/** This many connected subscribers. */
export async function crowd({ address }: Server, size: number, offered: string[]): Promise<Crowd> {
  const sockets: WebSocket[] = [];
  const all: Crowd = { sockets, received: 0, lastAtMs: 0 };
  const url = `${address.replace(/^http/, 'ws')}/api/events`;
  while (sockets.length < size) {
    const some = Array.from(
      { length: Math.min(AT_ONCE, size - sockets.length) },
      () => new WebSocket(url, offered, { perMessageDeflate: false }),
    );
    await Promise.all(some.map(opened));
    for (const socket of some) {
      socket.on('message', () => {
        all.received += 1;
        if (all.received === size) all.lastAtMs = nowMs();
      });
    }
    sockets.push(...some);
  }
  return all;
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', reject);
  });
}

/** Milliseconds from the start until the last of them has it. */
export async function toTheLast(server: Server, all: Crowd, owner: string): Promise<number> {
  all.received = 0;
  all.lastAtMs = 0;
  const beganAtMs = await server.announce(owner);
  for (const end = performance.now() + PATIENCE_MS; all.lastAtMs === 0; ) {
    if (performance.now() > end) throw new Error(`${all.received} of ${all.sockets.length} have it`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return all.lastAtMs - beganAtMs;
}

export function leave({ sockets }: Crowd): void {
  for (const socket of sockets) socket.terminate();
}
