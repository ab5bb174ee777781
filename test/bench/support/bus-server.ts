/** One process on a bus. Argument: the address of the database, or of a Redis. */
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { postgresBus } from '../../../src/adapters/postgres/bus.ts';
import { redisBus } from '../../../src/adapters/redis/bus.ts';
import { waitFor } from '../../support/patience.ts';
import type { Load, Order, Report } from './bus/replicas.ts';
import { nowMs } from './servers.ts';

const TOPIC = 'changes';
const TICK_MS = 2;
const MOST_SAMPLES = 5_000;

const url = process.argv[2] ?? '';
const log = pino({ level: 'warn' }, pino.destination(2));
const installation = { installationId: 'bench', keys: () => [Buffer.alloc(32, 7)] };
const bus = url.startsWith('redis:') ? redisBus(url, installation, log) : postgresBus(url, log);
let published = 0;
let heard = 0;
let delaysMs: number[] = [];
let isOwn = false;
let usage = process.cpuUsage();

bus.subscribe(
  TOPIC,
  ({ at }) => {
    if (isOwn) return;
    heard += 1;
    // Every message has the same chance to be among the samples.
    const place = heard <= MOST_SAMPLES ? heard - 1 : Math.floor(Math.random() * heard);
    if (typeof at === 'number' && place < MOST_SAMPLES) delaysMs[place] = nowMs() - at;
  },
  () => undefined,
);

function publishOne(areEqual: boolean): void {
  published += 1;
  isOwn = true;
  bus.publish(TOPIC, areEqual ? {} : { kind: 'session', id: randomUUID(), at: nowMs() });
  isOwn = false;
}

/** At an even rate, as precisely as timers allow. */
function publish({ perSecond, seconds, areEqual }: Load): void {
  const begun = performance.now();
  const phase = Math.random();
  let done = 0;
  const timer = setInterval(() => {
    const passed = Math.min(performance.now() - begun, seconds * 1_000);
    const due = Math.floor((passed / 1_000) * perSecond + phase);
    for (; done < due; done += 1) publishOne(areEqual);
    if (passed >= seconds * 1_000) clearInterval(timer);
  }, TICK_MS);
}

function report(): Report {
  const { user, system } = process.cpuUsage(usage);
  const seen = { published, heard, delaysMs, processorMs: (user + system) / 1_000 };
  [published, heard, delaysMs, usage] = [0, 0, [], process.cpuUsage()];
  return seen;
}

process.on('message', (order: Order) => {
  if ('publish' in order) publish(order.publish);
  else process.send?.(report());
});
process.on('SIGINT', () => undefined);
process.once('disconnect', () => void bus.close().finally(() => process.exit()));
await waitFor(() => bus.connected);
process.send?.('ready');
