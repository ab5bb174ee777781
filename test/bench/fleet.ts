/**
 * What many containers cost two processes of the service and their database, with an engine that costs nothing: at rest
 * with every user's page open, in a pass over all containers, in a storm of changes, and in lists. Everything is on
 * loopback; what counts is processor time. Arguments: `containers=5000`, `users=500`, `changes=500`, `seconds=30` at rest.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { waitFor } from '../support/patience.ts';
import { given } from './support/arguments.ts';
import { protocols } from './support/events/crowd.ts';
import { type Person, run, seed, sizeOf } from './support/fleet/seed.ts';
import { client, quantile } from './support/load.ts';
import { spent } from './support/processor-time.ts';
import { mib, say } from './support/say.ts';
import { type Server, startServer } from './support/servers.ts';
import { emptyDatabase } from './support/whole-service.ts';

const CONTAINERS = given('containers', 5_000);
const USERS = given('users', 500);
const CHANGES = given('changes', 500);
const SECONDS = given('seconds', 30);
const CHANGES_AT_ONCE = 16;
/** The limits that the containers have already. */
const SEEDED = { memory_mb: 512, cpu_shares: 500, disk_mb: 1024 };
const PASSES = 3;
const MEMORY = ['--expose-gc', '--import', path.resolve(import.meta.dirname, 'support/tell-memory.ts')];

type Fleet = {
  readonly servers: readonly Server[];
  readonly url: string;
  readonly people: readonly Person[];
  readonly databaseMs: () => number;
};

const database = await emptyDatabase();
const servers: Server[] = [];
try {
  const { url, usedMs: databaseMs } = database;
  const people = await seed(url, USERS, CONTAINERS);
  for (const table of ['containers', 'users']) {
    const { bytes, rows } = await sizeOf(url, table);
    say(`${table}: ${rows} rows of ${Math.round(bytes / rows)} bytes with their indexes`);
  }
  for (const _ of [1, 2]) servers.push(await startServer('fleet-server.ts', [url], MEMORY));
  const fleet = { servers, url, people, databaseMs };
  await memories(fleet, 'without pages');
  const pages = await openPages(fleet);
  await memories(fleet, `with ${pages.sockets.length / servers.length} pages each`);
  await atRest(fleet);
  await passes(fleet);
  await storm(fleet, pages);
  await lists(fleet);
  for (const socket of pages.sockets) socket.terminate();
} finally {
  for (const server of servers) await server.stop();
  await database.stop();
}

/** Of the processes together, and of the database. */
function users({ servers, databaseMs }: Fleet) {
  const serviceMs = async (): Promise<number> =>
    (await Promise.all(servers.map((server) => server.cpuMs()))).reduce((sum, ms) => sum + ms, 0);
  return { databaseMs, serviceMs };
}

async function memories({ servers }: Fleet, when: string): Promise<void> {
  for (const server of servers) {
    const { heldBytes, residentBytes } = await server.ask<{ heldBytes: number; residentBytes: number }>(
      'memory',
    );
    say(`memory ${when}: ${mib(heldBytes)} in use, ${mib(residentBytes)} resident`);
  }
}

type Pages = { readonly sockets: readonly WebSocket[]; readonly arrivedAtMs: Map<string, number> };

/** One for each user, half of them at each process. */
async function openPages({ servers, people }: Fleet): Promise<Pages> {
  const arrivedAtMs = new Map<string, number>();
  const sockets: WebSocket[] = [];
  for (const [n, { token }] of people.entries()) {
    const address = servers[n % servers.length]?.address.replace(/^http/, 'ws');
    const socket = new WebSocket(`${address}/api/events`, protocols(token), { perMessageDeflate: false });
    socket.on('message', (text) => {
      const { data } = JSON.parse(`${text}`) as { data?: { db_id?: string } };
      if (data?.db_id !== undefined) arrivedAtMs.set(data.db_id, performance.now());
    });
    sockets.push(socket);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  }
  return { sockets, arrivedAtMs };
}

async function atRest(fleet: Fleet): Promise<void> {
  const transactions = async (): Promise<number> => {
    const text = 'select xact_commit as n from pg_stat_database where datname = current_database()';
    return Number((await run(fleet.url, text)).rows[0].n);
  };
  const before = await transactions();
  const { ms, serviceMs, databaseMs } = await spent(users(fleet), () => sleep(SECONDS * 1_000));
  const seconds = ms / 1_000;
  const each = ((await transactions()) - before) / seconds;
  say(
    `at rest: ${(serviceMs / seconds / fleet.servers.length).toFixed(1)} ms of processor a second for each process, ` +
      `${(databaseMs / seconds).toFixed(1)} for the database, ${each.toFixed(1)} transactions a second`,
  );
}

async function passes(fleet: Fleet): Promise<void> {
  const took: { ms: number; cpuMs: number }[] = [];
  const { databaseMs } = await spent(users(fleet), async () => {
    for (let n = 0; n < PASSES; n += 1) {
      const [server] = fleet.servers;
      if (server !== undefined) took.push(await server.ask('pass'));
    }
  });
  const of = (name: 'ms' | 'cpuMs'): string =>
    (took.reduce((sum, each) => sum + each[name], 0) / PASSES).toFixed(0);
  say(
    `a pass over all containers: ${of('ms')} ms, of processor ${of('cpuMs')} ms, and ` +
      `${(databaseMs / PASSES).toFixed(0)} ms of the database`,
  );
}

/** Renames, which reach no engine: each is a row, an audit record with its seal, and an event. */
async function storm(fleet: Fleet, { arrivedAtMs }: Pages): Promise<void> {
  const { servers, people } = fleet;
  const answeredAtMs = new Map<string, number>();
  const changes = Array.from({ length: CHANGES }, (_, n) => {
    const { token, dbIds } = people[n % people.length] as Person;
    const dbId = dbIds[Math.floor(n / people.length) % dbIds.length] ?? '';
    return { token, dbId, address: servers[n % 2]?.address ?? '', name: `storm-${n}` };
  });
  arrivedAtMs.clear();
  const { ms, serviceMs, databaseMs } = await spent(users(fleet), async () => {
    const left = changes.values();
    const work = async (): Promise<void> => {
      for (const { token, dbId, address, name } of left) {
        await client(address, token).call('PATCH', `/api/containers/${dbId}`, { ...SEEDED, name });
        answeredAtMs.set(dbId, performance.now());
      }
    };
    await Promise.all(Array.from({ length: CHANGES_AT_ONCE }, work));
    await waitFor(() => arrivedAtMs.size === answeredAtMs.size, { what: 'every page has its event' });
  });
  const lags = [...answeredAtMs].map(([dbId, at]) => (arrivedAtMs.get(dbId) ?? Number.NaN) - at);
  say(
    `${CHANGES} changes: ${((CHANGES * 1_000) / ms).toFixed(0)} a second, ${(serviceMs / CHANGES).toFixed(1)} ms of ` +
      `processor each, and ${(databaseMs / CHANGES).toFixed(1)} ms of the database; event after answer p50 ` +
      `${quantile(lags, 0.5).toFixed(0)} ms, p99 ${quantile(lags, 0.99).toFixed(0)} ms`,
  );
}

async function lists(fleet: Fleet): Promise<void> {
  const { servers, people } = fleet;
  const { serviceMs, databaseMs } = await spent(users(fleet), async () => {
    for (const [n, { token }] of people.entries())
      await client(servers[n % 2]?.address ?? '', token).call('GET', '/api/containers');
  });
  const each = [serviceMs, databaseMs].map((ms) => (ms / people.length).toFixed(2));
  say(
    `a user's list of ${people[0]?.dbIds.length} containers: ${each[0]} ms of processor, and ${each[1]} ms of the database`,
  );
}
