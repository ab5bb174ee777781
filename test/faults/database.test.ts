import path from 'node:path';
import t, { type Test } from 'tap';
import { DB_ID_LABEL } from '../../src/adapters/docker/labels.ts';
import { freshDatabase } from '../support/database/database.ts';
import { embeddedUrlOf } from '../support/database/embedded.ts';
import { engineOrSkip, type TestEngine } from '../support/engine/engine.ts';
import { waitFor } from '../support/patience.ts';
import {
  aKeptContainer,
  type Call,
  eventually,
  FAULTY,
  faultsOf,
  isReady,
  large,
  partState,
  readCanary,
} from '../support/process/fault-scene.ts';
import { Invariants } from '../support/process/invariants.ts';
import { aLineTo, type CutLine } from '../support/process/lines.ts';
import {
  aPlace,
  client,
  type Running,
  signInAdmin,
  startService,
} from '../support/process/running-service.ts';

// All points in `npm run test:faults`; in the usual run those around the commit.
const POINTS =
  process.env['FAULTS'] === 'all'
    ? ['create_fresh', 'stop_old', 'start_fresh', 'verify_fresh', 'commit', 'remove_old'].flatMap((step) => [
        `update before ${step}`,
        `update after ${step}`,
      ])
    : ['update before commit', 'update after commit'];

const signedIn = async (running: Running): Promise<Call> =>
  client(running.address, await signInAdmin(running));

/** What every credential gets while there is no database: never that it is a bad one. */
async function isToldToRetry(t: Test, address: string, call: Call): Promise<void> {
  const seen: number[] = [];
  const status = async (): Promise<number> => (await call('GET', '/api/containers')).status;
  const last = await eventually(status, (one) => seen.push(one) > 0 && one === 503);
  t.equal(last, 503);
  // A credential that was remembered a moment ago still gets as far as the request's own words.
  t.same(
    seen.filter((one) => one !== 500 && one !== 503),
    [],
  );
  const headers = { authorization: `Bearer svc_${'0'.repeat(64)}` };
  // One that waits for a silent database holds up no other.
  const [raw, signIn, live] = await Promise.all([
    fetch(`${address}/api/containers`, { headers }),
    call('POST', '/api/auth/login', { email: 'a@example.org', password: 'x' }),
    call('GET', '/livez'),
  ]);
  t.equal(raw.status, 503, 'also an unknown one');
  t.match(raw.headers.get('retry-after'), /^\d+$/);
  t.equal(signIn.status, 503);
  t.equal(live.status, 200);
}

async function inOrder(t: Test, call: Call, invariants: Invariants, dbId: string): Promise<void> {
  t.equal(await eventually(partState(call, 'database'), isReady), 'ready');
  await invariants.settled();
  t.same(await invariants.violations(), [], 'the invariants hold');
  await call('POST', `/api/containers/${dbId}/start`);
  t.equal(await readCanary(call, dbId), 'kept\n', 'the volume is intact');
}

/** An update has made the fresh container, and the old one is still there. */
async function inTheMiddle({ docker }: TestEngine, dbId: string): Promise<void> {
  const filters = { label: [`${DB_ID_LABEL}=${dbId}`] };
  const both = async () => (await docker.listContainers({ all: true, filters })).length === 2;
  await waitFor(both, { what: 'an update is in the middle', everyMs: 20, patienceMs: 60_000 });
}

async function lineFails(t: Test, engine: TestEngine): Promise<void> {
  const real = await freshDatabase(t);
  if (real === null) return;
  const line = await aLineTo(t, real);
  const place = await aPlace(t, { DATABASE_URL: line.url });
  if (place === null) return;
  const running = await startService(t, place);
  const call = await signedIn(running);
  const invariants = new Invariants(real, engine.docker);
  const faults: readonly (keyof CutLine & ('cut' | 'stall'))[] = ['cut', 'stall'];
  for (const fault of faults) {
    const { dbId } = await aKeptContainer(call, fault);
    line[fault]();
    await isToldToRetry(t, running.address, call);
    line.mend();
    await inOrder(t, call, invariants, dbId);

    const patch = call('PATCH', `/api/containers/${dbId}`, { name: `${fault}-renamed`, ...large });
    await inTheMiddle(engine, dbId);
    line[fault]();
    const { status } = await patch;
    t.ok([200, 202, 500, 503].includes(status), `${fault} during an update: answered ${status}`);
    line.mend();
    await inOrder(t, call, invariants, dbId);
  }
  await invariants.close();
}

async function serverIsKilled(t: Test, engine: TestEngine): Promise<void> {
  const bare = await aPlace(t);
  if (bare === null) return;
  const root = path.join(bare.dataDir, 'postgres');
  const { place, next } = faultsOf(bare, path.join(root, 'pgdata', 'postmaster.pid'));
  const running = await startService(t, place, FAULTY);
  const call = await signedIn(running);
  const url = await embeddedUrlOf(bare.dataDir);
  for (const point of POINTS) {
    const { dbId } = await aKeptContainer(call, point.replaceAll(/[ _]/g, '-'));
    next(point);
    const { status } = await call('PATCH', `/api/containers/${dbId}`, { name: 'renamed', ...large });
    t.ok([200, 202, 500, 503].includes(status), `${point}: answered ${status}`);
    const invariants = new Invariants(url, engine.docker);
    await inOrder(t, call, invariants, dbId);
    await invariants.close();
    await call('DELETE', `/api/containers/${dbId}`);
  }
}

t.setTimeout(1_800_000);
t.test('a database', { timeout: 900_000 }, async (t) => {
  const engine = await engineOrSkip(t);
  if (engine === null) return;
  await t.test('that is cut off, or silent', (t) => lineFails(t, engine));
  await t.test('whose server is killed', (t) => serverIsKilled(t, engine));
});
