import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import t from 'tap';
import { engineOrSkip } from '../support/engine.ts';
import { followEvents } from '../support/event-follower.ts';
import { small } from '../support/fault-scene.ts';
import { Invariants } from '../support/invariants.ts';
import { aPairOfReplicas } from '../support/replicas.ts';
import { client } from '../support/running-service.ts';

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 30);
const CONTAINERS = 4;
/** 500 is the interface's word for an engine or a database that did not answer in time; nothing was promised then. */
const LEGAL: readonly unknown[] = [undefined, 200, 202, 409, 500, 503];

type Told = { readonly id: string; readonly type: string; readonly db_id: string; readonly name: string };

/** Every event that was committed, in the order of the stream. */
async function committed(url: string): Promise<readonly Told[]> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  const { rows } = await db.query<Told>(
    "select xid || '-' || position as id, type, db_id, data->>'name' as name from events order by xid, position",
  );
  await db.end();
  return rows;
}

t.setTimeout((SECONDS + 300) * 1000);
t.test(`${SECONDS} s of changes while both replicas are killed at random`, async (t) => {
  const engine = await engineOrSkip(t);
  const pair = await aPairOfReplicas(t);
  if (engine === null || pair === null) return;
  const { url, token, replicas } = pair;
  const seed = Date.now() % 1_000_000;
  t.comment(`seed ${seed}`);
  const chances = fc.sample(fc.nat(999), { seed, numRuns: 10_000 });
  let drawn = 0;
  const chance = (below: number): number => (chances[drawn++ % chances.length] ?? 0) % below;
  const any = () => replicas[chance(2)] ?? replicas[0];
  const call = (method: string, path: string, body?: object) =>
    client(any().address(), token)(method, path, body).catch(() => null);

  const followers = await Promise.all([1, 2, 3].map(() => followEvents(t, () => any().address(), token)));
  const ids: string[] = [];
  for (let n = 0; n < CONTAINERS; n += 1) {
    const made = await call('POST', '/api/containers', { name: `c${n}`, ...small });
    t.equal(made?.status, 201);
    ids.push(made?.body['db_id'] as string);
  }
  for (const follower of followers) await follower.until(() => follower.messages.length >= CONTAINERS);

  const end = performance.now() + SECONDS * 1000;
  const over = (): boolean => performance.now() > end;
  const strange: string[] = [];
  /** New names that were answered with 200. */
  const acknowledged: string[] = [];
  const work = async (dbId: string, lane: number): Promise<void> => {
    const path = `/api/containers/${dbId}`;
    for (let n = 0; !over(); n += 1) {
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
  let kills = 0;
  const kill = async (): Promise<void> => {
    while (!over()) {
      await sleep(1_000 + chance(4) * 1_000);
      const which = chance(5) === 0 ? replicas : [any()];
      kills += which.length;
      await Promise.all(which.map((one) => one.kill()));
      await Promise.all(which.map((one) => one.restart()));
    }
  };
  const cutLines = async (): Promise<void> => {
    while (!over()) {
      await sleep(500 + chance(1_000));
      followers[chance(2)]?.cut();
    }
  };
  // Two lanes on each container: their changes are in one order for all who watch.
  const lanes = [...ids, ...ids].map((dbId, lane) => work(dbId, lane));
  await Promise.all([...lanes, kill(), cutLines()]);

  const invariants = new Invariants(url, engine.docker);
  await invariants.settled();
  t.same(await invariants.violations(), [], 'rows, engine, audit and events agree');
  await invariants.close();
  const all = await committed(url);
  const told = all.map(({ id, type }) => `${id} ${type}`);
  for (const [n, { messages, until, connections }] of followers.entries()) {
    await until(() => messages.some(({ id }) => id === all.at(-1)?.id));
    t.same(
      messages.map(({ id, type }) => `${id} ${type}`),
      told,
      `follower ${n + 1}: everything once, in order, over ${connections()} connections`,
    );
  }
  t.same(strange, [], 'only legal answers');
  if (strange.length > 0) for (const one of replicas) console.error(one.output().slice(-20_000));
  const names = all.filter(({ type }) => type === 'container_updated').map(({ name }) => name);
  t.same(
    acknowledged.filter((name) => names.filter((one) => one === name).length !== 1),
    [],
    `each of ${acknowledged.length} acknowledged renames was committed once`,
  );
  t.ok(kills > 0 && all.length > CONTAINERS, `${kills} kills, ${all.length} events`);
  t.comment(`${kills} kills, ${all.length} events, ${acknowledged.length} acknowledged renames`);
});
