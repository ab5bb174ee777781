/**
 * The time of one event to the last of many subscribers of a process, against a bare broadcast to as many; and from its
 * commit at one process to a subscriber of another. Arguments: subscribers, rounds.
 */
import { readFileSync } from 'node:fs';
import { WebSocket } from 'ws';
import { administrator, median, quantile } from './support/load.ts';
import { nowMs, type Server, startServer } from './support/servers.ts';
import { emptyDatabase } from './support/whole-service.ts';

const WANTED = Number(process.argv[2] ?? 5_000);
const ROUNDS = Number(process.argv[3] ?? 30);
const ACROSS = 500;
const AT_ONCE = 100;
const WANTED_RATIO = 1.5;
const PATIENCE_MS = 30_000;
/** Open files of this process besides the subscribers. */
const SPARE_FILES = 200;

/** Both kinds of subscribers are in this process. */
const [, limit = '0'] = /Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
const count = Math.min(WANTED, Math.floor((Number(limit) - SPARE_FILES) / 2));
if (count < WANTED) console.log(`${count} subscribers: no more than ${limit} files may be open (ulimit -n)`);

const database = await emptyDatabase();
const bare = await startServer('broadcast-server.ts', []);
const service = await startServer('service-server.ts', [database.url]);
let other: Server | null = null;
try {
  const admin = await administrator(service.address, service.setupCode);
  const { id: owner } = await admin.call<{ id: string }>('GET', '/api/me');
  const { token } = await admin.call<{ token: string }>('POST', '/api/tokens', { name: 'bench' });
  const crowds = {
    bare: await crowd(bare, count, []),
    service: await crowd(service, count, protocols(token)),
  };
  const took = { bare: [] as number[], service: [] as number[] };
  for (let round = -2; round < ROUNDS; round += 1) {
    for (const name of ['bare', 'service'] as const) {
      const ms = await toTheLast(name === 'bare' ? bare : service, crowds[name], owner);
      if (round >= 0) took[name].push(ms);
    }
  }
  for (const name of ['bare', 'service'] as const) {
    const [p50, best] = [median(took[name]), Math.min(...took[name])];
    console.log(
      `${name}: ${count} subscribers, the last has it after ${p50.toFixed(1)} ms (best ${best.toFixed(1)})`,
    );
  }
  const ratio = median(took.service) / median(took.bare);
  const ofBest = Math.min(...took.service) / Math.min(...took.bare);
  console.log(
    `ratio: ${ratio.toFixed(2)} of the medians, ${ofBest.toFixed(2)} of the best (wanted ${WANTED_RATIO})`,
  );
  for (const { sockets } of Object.values(crowds)) for (const socket of sockets) socket.terminate();
  await new Promise((resolve) => setTimeout(resolve, 1_000));

  other = await startServer('service-server.ts', [database.url]);
  const one = await crowd(other, 1, protocols(token));
  const across: number[] = [];
  for (let n = -20; n < ACROSS; n += 1) {
    const ms = await toTheLast(service, one, owner);
    if (n >= 0) across.push(ms);
  }
  const [p50, p99] = [quantile(across, 0.5), quantile(across, 0.99)].map((ms) => ms.toFixed(1));
  console.log(`commit to a subscriber of another process: p50 ${p50} ms, p99 ${p99} ms, of ${ACROSS}`);
  for (const socket of one.sockets) socket.terminate();
  process.exitCode = Math.min(ratio, ofBest) <= WANTED_RATIO ? 0 : 1;
} finally {
  await other?.stop();
  await service.stop();
  await bare.stop();
  await database.stop();
}

type Crowd = { readonly sockets: readonly WebSocket[]; received: number; lastAtMs: number };

function protocols(token: string): string[] {
  return ['berth.events.v1', `bearer.${token}`];
}

/** This many connected subscribers. */
async function crowd({ address }: Server, size: number, offered: string[]): Promise<Crowd> {
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
async function toTheLast(server: Server, all: Crowd, owner: string): Promise<number> {
  all.received = 0;
  all.lastAtMs = 0;
  const beganAtMs = await server.announce(owner);
  for (const end = performance.now() + PATIENCE_MS; all.lastAtMs === 0; ) {
    if (performance.now() > end) throw new Error(`${all.received} of ${all.sockets.length} have it`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return all.lastAtMs - beganAtMs;
}
