import path from 'node:path';
// biome-ignore lint/style/noRestrictedImports: the outage lasts longer than what is remembered
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { DB_ID_LABEL } from '../../src/adapters/docker/engine/engine-names.ts';
import { embeddedUrlOf, freshDatabase } from '../support/database/database.ts';
import { engineOrSkip, type TestEngine } from '../support/engine/engine.ts';
import { waitFor } from '../support/patience.ts';
import {
  aContainerWithCanary,
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
  anInstallation,
  client,
  type Running,
  signInAdmin,
  startService,
} from '../support/process/running-service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

// All points in `npm run test:faults`; in the usual run those around the commit.
const POINTS =
  process.env['FAULTS'] === 'all'
    ? ['create_fresh', 'stop_old', 'start_fresh', 'verify_fresh', 'commit', 'remove_old'].flatMap((step) => [
        `update before ${step}`,
        `update after ${step}`,
      ])
    : ['update before commit', 'update after commit'];

/** Longer than any cache, and than the interval of open terminals' credential checks. */
const OUTAGE_SECONDS = process.env['FAULTS'] === 'all' ? 60 : 6;

const signedIn = async (running: Running): Promise<Call> =>
  client(running.address, await signInAdmin(running));

/** Every credential's answer without a database: never that it is invalid. */
async function isToldToRetry(t: Test, address: string, call: Call): Promise<void> {
  const seen: number[] = [];
  const status = async (): Promise<number> => (await call('GET', '/api/containers')).status;
  const last = await eventually(status, (one) => seen.push(one) > 0 && one === 503);
  t.equal(last, 503);
  // A cached credential reaches the request's own words.
  t.same(
    seen.filter((one) => one !== 500 && one !== 503),
    [],
  );
  const headers = { authorization: `Bearer svc_${'0'.repeat(64)}` };
  // A request waiting for a silent database delays no other.
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

/** An update has made the fresh container, and the old one still exists. */
async function inTheMiddle({ docker }: TestEngine, dbId: string): Promise<void> {
  const filters = { label: [`${DB_ID_LABEL}=${dbId}`] };
  const both = async () => (await docker.listContainers({ all: true, filters })).length === 2;
  await waitFor(both, { what: 'an update is in the middle', everyMs: 20, patienceMs: 60_000 });
}

/** A shell that echoes results. */
async function aShell({ address }: Running, dbId: string, token: string) {
  const at = { address: address.replace('http', 'ws'), dbId, token };
  const { socket, output, until } = await terminalClient(at, {}, { origin: address });
  let asked = 0;
  return {
    socket,
    /** Waits for the answer to a sum, which the line itself does not contain. */
    async answers(): Promise<void> {
      asked += 1;
      const answer = `<${asked * 7}>`;
      socket.send(Buffer.from(`echo "<$((${asked} * 7))>"\r`));
      await until(() => output().includes(answer));
    },
  };
}

type Shell = Awaited<ReturnType<typeof aShell>>;

/** Longer than any cache: each request must retry, and open terminals continue. */
async function lastsLong(t: Test, address: string, token: string, shell: Shell): Promise<void> {
  const call = client(address, token);
  const seen = new Set<string>();
  const headers = { authorization: `Bearer ${token}` };
  for (const end = performance.now() + OUTAGE_SECONDS * 1000; performance.now() < end; await sleep(500)) {
    const answer = await fetch(`${address}/api/containers`, { headers });
    seen.add(`${answer.status} ${answer.headers.has('retry-after')}`);
    await shell.answers();
    t.equal((await call('GET', '/livez')).status, 200, 'an outage is no reason to end the service');
    t.equal((await call('GET', '/readyz')).status, 503);
  }
  t.same([...seen], ['503 true'], 'to come again, and never that the credential is bad');
}

/** The same token and terminal work again. */
async function isBack(t: Test, call: Call, shell: Shell): Promise<void> {
  const status = async (): Promise<number> => (await call('GET', '/api/containers')).status;
  t.equal(await eventually(status, (one) => one === 200), 200, 'back with the same token');
  await shell.answers();
  t.equal(shell.socket.readyState, shell.socket.OPEN, 'the terminal is still the same one');
  const listed = async () => (await call('GET', '/api/admin/terminals')).body['terminals'] as unknown[];
  t.equal((await eventually(listed, (all) => all?.length === 1)).length, 1, 'and is listed');
}

async function lineFails(t: Test, engine: TestEngine): Promise<void> {
  const real = await freshDatabase(t);
  if (real === null) return;
  const line = await aLineTo(t, real);
  const installation = await anInstallation(t, { DATABASE_URL: line.url });
  if (installation === null) return;
  const running = await startService(t, installation);
  const token = await signInAdmin(running);
  const call = client(running.address, token);
  const invariants = new Invariants(real, engine.docker);
  const { dbId } = await aContainerWithCanary(call);
  const shell = await aShell(running, dbId, token);
  await shell.answers();
  const faults: readonly (keyof CutLine & ('cut' | 'stall'))[] = ['cut', 'stall'];
  for (const fault of faults) {
    line[fault]();
    await isToldToRetry(t, running.address, call);
    if (fault === 'cut') await lastsLong(t, running.address, token, shell);
    line.restore();
    await isBack(t, call, shell);
  }
  shell.socket.terminate();
  for (const [n, fault] of faults.entries()) {
    const limits = { ...large, memory_mb: large.memory_mb + n };
    const patch = call('PATCH', `/api/containers/${dbId}`, { name: `${fault}-renamed`, ...limits });
    await inTheMiddle(engine, dbId);
    line[fault]();
    const { status } = await patch;
    t.ok([200, 202, 500, 503].includes(status), `${fault} during an update: answered ${status}`);
    line.restore();
    await inOrder(t, call, invariants, dbId);
  }
  await invariants.close();
}

async function serverIsKilled(t: Test, engine: TestEngine): Promise<void> {
  const bare = await anInstallation(t);
  if (bare === null) return;
  const root = path.join(bare.dataDir, 'postgres');
  const { installation, next } = faultsOf(bare, path.join(root, 'pgdata', 'postmaster.pid'));
  const running = await startService(t, installation, FAULTY);
  const call = await signedIn(running);
  const url = await embeddedUrlOf(bare.dataDir);
  for (const point of POINTS) {
    const { dbId } = await aContainerWithCanary(call, point.replaceAll(/[ _]/g, '-'));
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
t.test('an unavailable database fails requests and ends nothing', { timeout: 900_000 }, async (t) => {
  const engine = await engineOrSkip(t);
  if (engine === null) return;
  await t.test('a cut or silent database answers 503', (t) => lineFails(t, engine));
  await t.test('a killed database server recovers', (t) => serverIsKilled(t, engine));
});
