import { randomUUID } from 'node:crypto';
import pg from 'pg';
import t, { type Test } from 'tap';
import { DB_ID_LABEL, INSTANCE_LABEL } from '../../src/adapters/docker/engine/engine-names.ts';
import { engineOrSkip, type TestEngine } from '../support/engine/engine.ts';
import {
  aContainerWithCanary,
  aKillChain,
  type Call,
  inside,
  type KillChain,
  readCanary,
  small,
} from '../support/process/fault-scene.ts';
import { Invariants } from '../support/process/invariants.ts';

type Sabotaged = {
  readonly url: string;
  /** A running container, never restored. */
  readonly dbId: string;
  /** A deleted one. */
  readonly deletedId: string;
};

/** Breaks each invariant of a stopped installation, and checks that it is noticed. */
async function sabotage(t: Test, engine: TestEngine, { url, dbId, deletedId }: Sabotaged): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  // An ended pool does not wait for its sockets, and reports what a server that stops meanwhile sends to them.
  pool.on('error', () => {});
  t.teardown(() => pool.end());
  const sql = async (text: string, ...values: unknown[]): Promise<pg.QueryResult> => pool.query(text, values);
  const instance = (await sql('select id from installation')).rows[0].id;
  const { docker } = engine;
  const invariants = new Invariants(url, docker);
  t.teardown(() => invariants.close());
  t.same(await invariants.violations(), [], 'nothing to notice so far');

  const aContainer = async (label: string): Promise<() => Promise<unknown>> => {
    const made = await docker.createContainer({
      Image: engine.image,
      Labels: { [INSTANCE_LABEL]: instance, [DB_ID_LABEL]: label },
    });
    return () => made.remove({ force: true });
  };
  const setRow = async (column: 'state' | 'runtime_id' | 'volume', value: string) => {
    const { rows } = await sql(`select ${column} as before from containers where db_id = $1`, dbId);
    await sql(`update containers set ${column} = $1 where db_id = $2`, value, dbId);
    return () => sql(`update containers set ${column} = $1 where db_id = $2`, rows[0].before, dbId);
  };
  /** Without the trigger, as only the table's owner can. */
  const removeRecord = async (table: 'audit_records' | 'events', where: string) => {
    await sql('set session_replication_role = replica');
    await sql(`create temp table put_aside as select * from ${table} where ${where}`);
    await sql(`delete from ${table} where ${where}`);
    return async () => {
      await sql(`insert into ${table} overriding system value select * from put_aside`);
      await sql('drop table put_aside');
      await sql('set session_replication_role = origin');
    };
  };
  const addRecord = async () => {
    const { rows } = await sql(
      `insert into audit_records (user_id, action, details, ip_address, user_agent)
        select user_id, 'container_stopped', details, ip_address, user_agent from audit_records where details = $1 limit 1
        returning id`,
      dbId,
    );
    return async () => {
      await sql('set session_replication_role = replica');
      await sql('delete from audit_records where id = $1', rows[0].id);
      await sql('set session_replication_role = origin');
    };
  };

  const SABOTAGE: readonly (readonly [string, () => Promise<() => Promise<unknown>>, RegExp])[] = [
    ['a second container of a row', () => aContainer(dbId), /has 2 containers/],
    ['a container of a deleted row', () => aContainer(deletedId), /\(deleted\) has 1 containers/],
    ['a container without a row', () => aContainer(randomUUID()), /has no row/],
    ['a row that points elsewhere', () => setRow('runtime_id', 'f'.repeat(64)), /points elsewhere/],
    ['a row that says something else', () => setRow('state', 'stopped'), /is stopped, its container running/],
    ['a row that is not at rest', () => setRow('state', 'updating'), /is updating/],
    ['a volume that is gone', () => setRow('volume', 'gone'), /the volume of .* is gone/],
    [
      'a change without an audit record',
      () => removeRecord('audit_records', `action = 'container_created' and details = '${dbId}'`),
      /1 operations unaudited/,
    ],
    ['an audit record without a change', addRecord, /1 operations invented/],
    [
      'a change without an event',
      () => removeRecord('events', `type = 'container_created' and db_id = '${dbId}'`),
      /1 operations unannounced/,
    ],
  ];
  for (const [name, sabotage, expected] of SABOTAGE) {
    await t.test(name, async (t) => {
      const undo = await sabotage();
      t.match((await invariants.violations()).join('\n'), expected);
      await undo();
      t.same(await invariants.violations(), [], 'and nothing once it is undone');
    });
  }

  await t.test('an operation without an owner is continued', async (t) => {
    await sql(
      'update operations set finished_at = null, outcome = null where id = (select id from operations where db_id = $1 limit 1)',
      dbId,
    );
    await t.rejects(invariants.settled(1_000), /no operation is active/);
  });
}

/** An operation's container, and a unique number. */
type Scene = {
  readonly call: Call;
  readonly engine: TestEngine;
  readonly dbId: string;
  readonly n: number;
};

/** The preparation, the request in which the process dies, and the container's allowed state afterwards. */
type Case = {
  readonly prepare?: (scene: Scene) => Promise<unknown>;
  readonly request: (scene: Scene) => Promise<unknown>;
  readonly steps: readonly string[];
  readonly ends: readonly string[];
  /** Whether a file outside the volume must still be there. */
  readonly keepsTool?: boolean;
  /** The points in the usual run. */
  readonly usual?: readonly string[];
};

const TOOL = '/usr/local/bin/tool';
const pathOf = ({ dbId }: Pick<Scene, 'dbId'>): string => `/api/containers/${dbId}`;
const start = (scene: Scene) => scene.call('POST', `${pathOf(scene)}/start`);
const stop = (scene: Scene) => scene.call('POST', `${pathOf(scene)}/stop`);
const remove = (scene: Scene) => scene.call('DELETE', pathOf(scene));
const change = (scene: Scene, over: object = {}) =>
  scene.call('PATCH', pathOf(scene), {
    name: `renamed-${scene.dbId.slice(0, 8)}-${scene.n}`,
    ...small,
    memory_mb: small.memory_mb + 1 + scene.n,
    ...over,
  });

async function vanish(scene: Scene): Promise<void> {
  const { body } = await scene.call('GET', pathOf(scene));
  await scene.engine.docker.getContainer(body['id'] as string).remove({ force: true });
}

/** In the usual run a case that makes a container dies only here: other cases try the points that follow. */
const MADE = ['after create_fresh'];

const CASES: Readonly<Record<string, Case>> = {
  create: {
    request: ({ call, n }) => call('POST', '/api/containers', { name: `made-${n}`, ...small }),
    steps: ['create_fresh', 'start_fresh', 'commit'],
    ends: ['running'],
    usual: MADE,
  },
  start: { prepare: stop, request: start, steps: ['start_old', 'commit'], ends: ['running'] },
  'start of a vanished one': {
    prepare: vanish,
    request: start,
    steps: ['create_fresh', 'start_fresh', 'commit'],
    ends: ['running'],
    usual: MADE,
  },
  stop: { request: stop, steps: ['stop_old', 'commit'], ends: ['stopped'] },
  update: {
    request: change,
    steps: ['measure_old', 'create_fresh', 'stop_old', 'start_fresh', 'verify_fresh', 'commit', 'remove_old'],
    ends: ['running'],
  },
  'update that carries over': {
    prepare: ({ call, dbId, n }) => inside(call, dbId, `echo ${n} > ${TOOL}`),
    request: (scene) => change(scene, { carry_over: true }),
    steps: [
      'measure_old',
      'stop_old',
      'capture_old',
      'create_fresh',
      'start_fresh',
      'verify_fresh',
      'commit',
      'remove_old',
    ],
    ends: ['running'],
    keepsTool: true,
    usual: ['after capture_old'],
  },
  delete: { request: remove, steps: ['remove_old', 'commit'], ends: ['deleted'] },
  restore: {
    prepare: remove,
    request: (scene) => scene.call('POST', `${pathOf(scene)}/restore`),
    steps: ['create_fresh', 'commit'],
    ends: ['stopped'],
    usual: MADE,
  },
};

const USUAL = ['after create_fresh', 'after commit'];

type Kind = 'create' | 'start' | 'stop' | 'update' | 'delete' | 'restore';
type Point = { readonly name: string; readonly kind: Kind; readonly point: string };

const POINTS = Object.entries(CASES).flatMap(([name, { steps, usual = USUAL }]) => {
  const kind = name.split(' ', 1)[0] as Kind;
  const all = steps.flatMap((step) => [`before ${step}`, `after ${step}`]);
  // A few points of each kind in the usual run, all in `npm run test:faults`.
  const chosen = process.env['FAULTS'] === 'all' ? all : all.filter((one) => usual.includes(one));
  return chosen.map((at): Point => ({ name, kind, point: `${kind} ${at}` }));
});

const pointsOf = (name: string, kind: Kind): string[] =>
  (CASES[name]?.steps ?? []).flatMap((step) => [`${kind} before ${step}`, `${kind} after ${step}`]);

/** Whether the one's operation comes by the other's point before its own. */
const meets = (one: Point, other: Point): boolean => {
  const all = pointsOf(one.name, one.kind);
  return all.slice(0, all.indexOf(one.point)).includes(other.point);
};

/** The points at which one process dies: one operation of each case, none of which reaches another's point first. */
const DEATHS = POINTS.reduce<Point[][]>((deaths, point) => {
  const fits = (one: Point) => one.name !== point.name && !meets(one, point) && !meets(point, one);
  const death = deaths.find((points) => points.every(fits));
  if (death === undefined) deaths.push([point]);
  else death.push(point);
  return deaths;
}, []);

/** Containers with a file on their volume, by case. */
type Rows = Readonly<Record<string, string>>;

async function rowsFor(call: Call): Promise<Rows> {
  const make = async (name: string): Promise<string> => (await aContainerWithCanary(call, name)).dbId;
  const names = Object.keys(CASES).filter((name) => name !== 'create');
  return Object.fromEntries(
    await Promise.all(names.map(async (name, n) => [name, await make(`kept-${n}`)] as const)),
  );
}

/** Kills the service with an operation at each point, and checks that the next one restores order. */
async function dieAt(
  t: Test,
  { call, dieAt, invariants }: KillChain,
  engine: TestEngine,
  { points, rows, n }: { readonly points: readonly Point[]; readonly rows: Rows; readonly n: number },
): Promise<void> {
  const scene = ({ name }: Point, call: Call): Scene => ({ call, engine, n, dbId: rows[name] ?? '' });
  const before = await call();
  await Promise.all(points.map((at) => CASES[at.name]?.prepare?.(scene(at, before))));
  const after = await dieAt(
    t,
    points.map(({ point }) => point),
    (call) => Promise.allSettled(points.map((at) => CASES[at.name]?.request(scene(at, call)))),
  );
  const { containers } = (await after('GET', '/api/containers')).body as { containers: { db_id: string }[] };
  const made = containers.find(({ db_id }) => !Object.values(rows).includes(db_id))?.db_id ?? '';
  const rowOf = (at: Point): string => scene(at, after).dbId || made;
  const words = (violation: string): string =>
    points.reduce((text, at) => text.replaceAll(rowOf(at) || '?', `of "${at.point}"`), violation);
  t.same((await invariants.violations()).map(words), [], 'the invariants hold');
  for (const at of points) {
    await t.test(`${at.name}: ${at.point}`, async (t) =>
      isInOrder(t, at, { ...scene(at, after), dbId: rowOf(at) }, (await invariants.row(rowOf(at))).state),
    );
  }
}

/** The container is in an allowed state, and then runs again with all its data. */
async function isInOrder(t: Test, { name, kind }: Point, scene: Scene, state: string): Promise<void> {
  const { ends, keepsTool = false } = CASES[name] as Case;
  const { call, dbId, n } = scene;
  t.match(ends, [state], state);
  if (kind === 'create') return void (await remove(scene));
  if (state === 'deleted') await call('POST', `${pathOf(scene)}/restore`);
  await start(scene);
  t.equal(await readCanary(call, dbId), 'kept\n', 'the volume is intact');
  if (keepsTool) t.equal(await inside(call, dbId, `cat ${TOOL}`), `${n}\n`, 'what was installed is there');
}

/** One death after the other. Returns their number, ending with the first violation. */
async function inTurn(t: Test, engine: TestEngine, deaths: typeof DEATHS): Promise<number> {
  const chain = await aKillChain(t, engine);
  if (chain === null) return deaths.length;
  const rows = await rowsFor(await chain.call());
  for (const [n, points] of deaths.entries()) {
    const name = points.map(({ point }) => point).join(', ');
    const ended = await t.test(`in ${name}`, { timeout: 600_000 }, (t) =>
      dieAt(t, chain, engine, { points, rows, n }),
    );
    if (ended?.ok !== true) return n + 1;
  }
  await t.test('the invariant checks notice each violation', async (t) => {
    await (await chain.call())('DELETE', `/api/containers/${rows['delete']}`);
    // Stops the service before it repairs anything.
    await chain.stop();
    await sabotage(t, engine, {
      url: chain.url,
      dbId: rows['update'] ?? '',
      deletedId: rows['delete'] ?? '',
    });
  });
  return deaths.length;
}

t.setTimeout(3_600_000);
t.test('a service killed during changes', { timeout: 3_600_000 }, async (t) => {
  const engine = await engineOrSkip(t);
  // A violation does not affect the next deaths, which use new containers.
  for (let done = 0; engine !== null && done < DEATHS.length; )
    done += await inTurn(t, engine, DEATHS.slice(done));
});
