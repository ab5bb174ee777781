import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import type { Test } from 'tap';
import { engineOrSkip } from '../engine/engine.ts';
import { waitFor } from '../patience.ts';
import { type Follower, followEvents } from '../service/streams.ts';
import { type Call, type Pair, type Replica, small } from './fault-scene.ts';
import { Invariants } from './invariants.ts';
import { client } from './running-service.ts';

const FOLLOWERS = 3;
const PATIENCE_MS = 120_000;
/** 500 is the interface's status for an engine or database without an answer in time, which promises nothing. */
const LEGAL: readonly unknown[] = [undefined, 200, 202, 409, 500, 503];

type Announced = {
  readonly id: string;
  readonly type: string;
  readonly db_id: string;
  readonly name: string;
};

type Soak = {
  readonly replicas: readonly [Replica, Replica];
  /** The next random number from 0, below this one. */
  readonly chance: (below: number) => number;
  /** Waits until this many more renames are acknowledged. */
  changes(count: number): Promise<void>;
  /** Kills them at once, and restarts them. */
  kill(...which: readonly Replica[]): Promise<void>;
};

/** Every committed event, in the stream's order. */
async function committed(url: string): Promise<readonly Announced[]> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  const { rows } = await db.query<Announced>(
    "select xid || '-' || position as id, type, db_id, data->>'name' as name from events where db_id is not null order by xid, position",
  );
  await db.end();
  return rows;
}

function randomNumbers(t: Test): Soak['chance'] {
  const seed = Date.now() % 1_000_000;
  t.comment(`seed ${seed}`);
  const chances = fc.sample(fc.nat(999), { seed, numRuns: 10_000 });
  let drawn = 0;
  return (below) => (chances[drawn++ % chances.length] ?? 0) % below;
}

/** Changes containers one after the other until the end, and records the answers. */
function changes(
  call: (...request: Parameters<Call>) => Promise<Awaited<ReturnType<Call>> | null>,
  chance: Soak['chance'],
  isOver: () => boolean,
) {
  const strange: string[] = [];
  /** New names answered with 200. */
  const acknowledged: string[] = [];
  const work = async (dbId: string, lane: number): Promise<void> => {
    const path = `/api/containers/${dbId}`;
    for (let n = 0; !isOver(); n += 1) {
      const what = ['start', 'stop', 'rename', 'rename'][chance(4)];
      const name = `c${lane}-${n}`;
      const answer =
        what === 'rename'
          ? await call('PATCH', path, { name, ...small })
          : await call('POST', `${path}/${what}`);
      if (answer?.status === 200 && what === 'rename') acknowledged.push(name);
      if (!LEGAL.includes(answer?.status))
        strange.push(`${what}: ${answer?.status} ${JSON.stringify(answer?.body)}`);
      await sleep(answer === null ? 100 : chance(50));
    }
  };
  return { work, strange, acknowledged };
}

/**
 * Two new processes on one database and one engine, with this many containers changed during `killing`. Afterwards
 * rows, engine, audit and events agree, and clients with cut connections have seen each event once and in order.
 */
export async function soak(
  t: Test,
  { url, token, replicas }: Pair,
  containers: number,
  killing: (soak: Soak) => Promise<void>,
): Promise<void> {
  const engine = await engineOrSkip(t);
  if (engine === null) return;
  const chance = randomNumbers(t);
  const any = () => replicas[chance(2)] ?? replicas[0];
  const call = (method: string, path: string, body?: object) =>
    client(any().address(), token)(method, path, body).catch(() => null);
  const follow = () => followEvents(t, () => any().address(), token);
  const followers = await Promise.all(Array.from({ length: FOLLOWERS }, follow));
  const ids: string[] = [];
  for (let n = 0; n < containers; n += 1) {
    const made = await call('POST', '/api/containers', { name: `c${n}`, ...small });
    t.equal(made?.status, 201);
    ids.push(made?.body['db_id'] as string);
  }
  for (const follower of followers) await follower.until(() => follower.messages.length >= containers);

  let over = false;
  const { work, strange, acknowledged } = changes(call, chance, () => over);
  const cutLines = async (): Promise<void> => {
    while (!over) {
      await sleep(500 + chance(1_000));
      // One is never cut: it misses events only by a kill.
      followers[chance(FOLLOWERS - 1)]?.cut();
    }
  };
  let kills = 0;
  const soak: Soak = {
    replicas,
    chance,
    async changes(count) {
      const enough = acknowledged.length + count;
      const what = () => `${enough} renames are acknowledged, now ${acknowledged.length}`;
      await waitFor(() => acknowledged.length >= enough, { what, patienceMs: PATIENCE_MS });
    },
    async kill(...which) {
      kills += which.length;
      await Promise.all(which.map((one) => one.kill()));
      await Promise.all(which.map((one) => one.restart()));
    },
  };
  const killed = killing(soak).finally(() => {
    over = true;
  });
  // Two lanes on each container: all observers see their changes in one order.
  await Promise.all([...ids, ...ids].map((dbId, lane) => work(dbId, lane)).concat(killed, cutLines()));

  const invariants = new Invariants(url, engine.docker);
  t.teardown(() => invariants.close());
  await invariants.settled(PATIENCE_MS);
  t.same(await invariants.violations(), [], 'rows, engine, audit and events agree');
  const all = await committed(url);
  for (const [n, follower] of followers.entries()) await sawAll(t, `follower ${n + 1}`, follower, all);
  t.same(strange, [], 'only legal answers');
  if (strange.length > 0) for (const one of replicas) console.error(one.output().slice(-20_000));
  const names = all.filter(({ type }) => type === 'container_updated').map(({ name }) => name);
  t.same(
    acknowledged.filter((name) => names.filter((one) => one === name).length !== 1),
    [],
    `each of ${acknowledged.length} acknowledged renames was committed once`,
  );
  t.ok(kills > 0 && all.length > containers, `${kills} kills, ${all.length} events`);
}

async function sawAll(
  t: Test,
  name: string,
  { messages, until, connections }: Follower,
  all: readonly Announced[],
): Promise<void> {
  await until(() => messages.some(({ id }) => id === all.at(-1)?.id));
  t.same(
    messages.map(({ id, type }) => `${id} ${type}`),
    all.map(({ id, type }) => `${id} ${type}`),
    `${name}: everything once, in order, over ${connections()} connections`,
  );
}
