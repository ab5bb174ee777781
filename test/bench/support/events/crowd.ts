/** Subscribers of a process's events. They take less time for a message than any server, so that its time shows. */
import { connect, type Socket } from 'node:net';
import { nowMs, type Server } from '../servers.ts';
import { openingOf, pongTo, takeFrames } from './frames.ts';

const AT_ONCE = 100;
const PATIENCE_MS = 30_000;

export type Crowd = { readonly sockets: readonly Socket[]; received: number; lastAtMs: number };

export const protocols = (token: string): string[] => ['berth.events.v1', `bearer.${token}`];

/** This many connected subscribers. */
export async function crowd({ address }: Server, size: number, offered: string[]): Promise<Crowd> {
  const sockets: Socket[] = [];
  const all: Crowd = { sockets, received: 0, lastAtMs: 0 };
  const onMessage = (): void => {
    all.received += 1;
    if (all.received === size) all.lastAtMs = nowMs();
  };
  while (sockets.length < size) {
    const count = Math.min(AT_ONCE, size - sockets.length);
    const some = Array.from({ length: count }, () => subscriber(new URL(address), offered, onMessage));
    sockets.push(...(await Promise.all(some)));
  }
  return all;
}

/** One buffer for all of them: nothing that is read is kept. */
const shared = Buffer.alloc(65_536);
const HEAD_END = '\r\n\r\n';

/** A client of `ws` would take as long for a message as the server. */
function subscriber({ hostname, port }: URL, offered: string[], onMessage: () => void): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  let head = '';
  let rest: Buffer = Buffer.alloc(0);
  const take = (bytes: Buffer): void => {
    rest = takeFrames(rest.length === 0 ? bytes : Buffer.concat([rest, bytes]), (kind, payload) => {
      if (kind === 'message') onMessage();
      if (kind === 'ping') socket.write(pongTo(payload));
    });
  };
  const takeHead = (bytes: Buffer): void => {
    head += bytes.toString('latin1');
    const end = head.indexOf(HEAD_END);
    if (end < 0) return;
    if (!head.startsWith('HTTP/1.1 101 ')) return void reject(new Error(head));
    resolve(socket);
    takeNext = take;
    take(Buffer.from(head.slice(end + HEAD_END.length), 'latin1'));
  };
  let takeNext = takeHead;
  const callback = (length: number): boolean => {
    takeNext(shared.subarray(0, length));
    return true;
  };
  const socket = connect({ host: hostname, port: Number(port), onread: { buffer: shared, callback } });
  socket.once('error', reject).once('close', () => reject(new Error('closed')));
  socket.write(openingOf(`${hostname}:${port}`, '/api/events', offered));
  return promise;
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
  for (const socket of sockets) socket.destroy();
}
