import t, { type Test } from 'tap';
import { freshDatabase } from '../support/database.ts';
import { engineOrSkip, type TestEngine } from '../support/engine.ts';
import { type Call, FAULTY, large, small } from '../support/fault-scene.ts';
import { Invariants } from '../support/invariants.ts';
import { aPlace, client, type Place, signInAdmin, startService } from '../support/running-service.ts';

type Scene = { readonly call: Call; readonly engine: TestEngine; readonly dbId: string; readonly id: string };

/** What is done before, the request that the process dies in, and how the container may be afterwards. */
type Case = {
  readonly prepare?: (scene: Scene) => Promise<unknown>;
  /** For a create that is the making of the container itself. */
  readonly request: (scene: Scene) => Promise<unknown>;
  readonly steps: readonly string[];
  readonly ends: readonly string[];
  /** A file outside the volume that must still be there. */
  readonly kept?: string;
  /** Where it dies in the usual run. */
  readonly usual?: readonly string[];
};

const stop = ({ call, dbId }: Scene) => call('POST', `/api/containers/${dbId}/stop`);
const vanish = ({ engine, id }: Scene) => engine.docker.getContainer(id).remove({ force: true });
const remove = ({ call, dbId }: Scene) => call('DELETE', `/api/containers/${dbId}`);

const CASES: Readonly<Record<string, Case>> = {
  create: {
    request: async () => undefined,
    steps: ['create_fresh', 'start_fresh', 'commit'],
    ends: ['running'],
  },
  start: {
    prepare: stop,
    request: ({ call, dbId }) => call('POST', `/api/containers/${dbId}/start`),
    steps: ['start_old', 'commit'],
    ends: ['running'],
  },
  'start of a vanished one': {
    prepare: vanish,
    request: ({ call, dbId }) => call('POST', `/api/containers/${dbId}/start`),
    steps: ['create_fresh', 'start_fresh', 'commit'],
    ends: ['running'],
  },
  stop: { request: stop, steps: ['stop_old', 'commit'], ends: ['stopped'] },
  update: {
    request: ({ call, dbId }) => call('PATCH', `/api/containers/${dbId}`, { name: 'renamed', ...large }),
    steps: ['measure_old', 'create_fresh', 'stop_old', 'start_fresh', 'verify_fresh', 'commit', 'remove_old'],
    ends: ['running'],
  },
  'update that carries over': {
    prepare: ({ call, dbId }) =>
      call('POST', `/api/containers/${dbId}/exec`, {
        command: ['sh', '-c', 'echo tool > /usr/local/bin/tool'],
      }),
    request: ({ call, dbId }) =>
      call('PATCH', `/api/containers/${dbId}`, { name: 'first', ...large, carry_over: true }),
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
    kept: '/usr/local/bin/tool',
    usual: ['after capture_old'],
  },
  delete: { request: remove, steps: ['remove_old', 'commit'], ends: ['deleted'] },
  restore: {
    prepare: remove,
    request: ({ call, dbId }) => call('POST', `/api/containers/${dbId}/restore`),
    steps: ['create_fresh', 'commit'],
    ends: ['stopped'],
  },
};

const USUAL = ['after create_fresh', 'after commit'];

/** Kills the service at the point, starts it again, and looks whether everything is in order. */
async function dieAt(
  t: Test,
  place: Place,
  engine: TestEngine,
  url: string,
  name: string,
  point: string,
): Promise<void> {
  const faulty = { ...place, env: { ...place.env, FAULT_AT: point } };
  const first = await startService(t, faulty, FAULTY);
  const call = client(first.address, await signInAdmin(first));
  const ended = new Promise((resolve) => first.child.once('exit', resolve));
  const { prepare, request, ends, kept } = CASES[name] as Case;
  let dbId: string | null = null;
  if (name === 'create') {
    await call('POST', '/api/containers', { name: 'first', ...small }).catch(() => undefined);
  } else {
    const made = await call('POST', '/api/containers', { name: 'first', ...small });
    const scene = { call, engine, ...ids(made.body) };
    dbId = scene.dbId;
    await call('POST', `/api/containers/${dbId}/exec`, {
      command: ['sh', '-c', 'echo kept > /workspace/canary'],
    });
    await prepare?.(scene);
    await request(scene).catch(() => undefined);
  }
  await ended;
  t.equal(first.child.signalCode, 'SIGKILL', `${point}: it died there`);

  const second = await startService(t, place);
  const invariants = new Invariants(url, engine.docker);
  await invariants.settled();
  const violations = await invariants.violations();
  t.same(violations, [], `${point}: the invariants hold`);
  const again = client(second.address, await signInAdmin(second));
  if (dbId !== null) {
    const row = await invariants.row(dbId);
    t.match(ends, [row.state], `${point}: ${row.state}`);
    if (row.state !== 'deleted') {
      await again('POST', `/api/containers/${dbId}/start`);
      const read = await again('POST', `/api/containers/${dbId}/exec`, {
        command: ['cat', '/workspace/canary'],
      });
      t.match(read.body, { stdout: 'kept\n' }, `${point}: the volume is intact`);
      if (kept !== undefined) {
        const found = await again('POST', `/api/containers/${dbId}/exec`, { command: ['test', '-e', kept] });
        t.match(found.body, { exit_code: 0 }, `${point}: what was installed is there`);
      }
    }
  }
  await invariants.close();
  const { containers } = (await again('GET', '/api/containers')).body as { containers: { db_id: string }[] };
  await Promise.all(containers.map((one) => again('DELETE', `/api/containers/${one.db_id}`)));
  await second.stop();
}

const ids = (body: Record<string, unknown>) => ({ dbId: body['db_id'] as string, id: body['id'] as string });

t.setTimeout(3_600_000);
const engine = await engineOrSkip(t);
// A process dies in a few points of each kind in the usual run, and in all of them in `npm run test:faults`.
const all = process.env['FAULTS'] === 'all';
if (engine !== null) {
  for (const [name, { steps, usual = USUAL }] of Object.entries(CASES)) {
    await t.test(`killed during ${name}`, { timeout: 600_000 }, async (t) => {
      const points = steps.flatMap((step) => [`before ${step}`, `after ${step}`]);
      for (const point of all ? points : points.filter((one) => usual.includes(one))) {
        const kind = name.split(' ', 1)[0];
        const url = await freshDatabase(t);
        const place = url === null ? null : await aPlace(t, { DATABASE_URL: url });
        if (place === null || url === null) return;
        await dieAt(t, place, engine, url, name, `${kind} ${point}`);
      }
    });
  }
}
