import { readdirSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { runOrThrow } from '../../src/adapters/docker/host/host-commands.ts';
import { findDaemon } from '../../src/adapters/docker/private-engine/private-engine.ts';
import { layoutOf } from '../../src/adapters/docker/private-engine/private-engine-paths.ts';
import { isThere } from '../support/child.ts';
import { freshDatabase } from '../support/database/database.ts';
import { bothEnginesOrSkip, openOwn, stockWithTools, type TestEngine } from '../support/engine/engine.ts';
import { waitFor } from '../support/patience.ts';
import {
  aContainerWithCanary,
  type Call,
  eventually,
  FAULTY,
  faultsOf,
  inside,
  isReady,
  large,
  partState,
  readCanary,
} from '../support/process/fault-scene.ts';
import { Invariants } from '../support/process/invariants.ts';
import {
  anInstallation,
  client,
  type Installation,
  type Running,
  signInAdmin,
  startService,
} from '../support/process/running-service.ts';
import { type PageTerminal, pageTerminal } from '../support/terminal/page-terminal.ts';
import type { TerminalAddress } from '../support/terminal/terminal-client.ts';

const isWhole = process.env['FAULTS'] === 'all';
// All points in `npm run test:faults`; in the usual run the one that leaves most half done.
const POINTS = isWhole
  ? [
      ['stop', 'stop_old'],
      ['start', 'start_old'],
      ['update', 'create_fresh'],
      ['update', 'stop_old'],
      ['update', 'start_fresh'],
      ['update', 'verify_fresh'],
      ['update', 'remove_old'],
      ['delete', 'remove_old'],
      ['restore', 'create_fresh'],
    ].flatMap(([kind, step]) => [`${kind} before ${step}`, `${kind} after ${step}`])
  : ['update after stop_old'];

/** A service on its own private engine with the base image's tools. */
async function scene(
  t: Test,
  shared: TestEngine,
): Promise<{ installation: Installation; url: string } | null> {
  const url = await freshDatabase(t);
  const installation = await anInstallation(t, { DATABASE_URL: url ?? '', BERTH_ENGINE: 'auto' });
  if (installation === null || url === null) return null;
  delete installation.env['DOCKER_HOST'];
  await stockWithTools(shared, installation.dataDir);
  if (!isWhole) return { installation, url };
  const { pool } = layoutOf(installation.dataDir);
  // Most of it is a hole.
  await runOrThrow('cp', ['--sparse=always', pool, `${pool}.unused`]);
  return { installation, url };
}

async function pidOfEngine({ dataDir }: Installation): Promise<number> {
  const daemon = await findDaemon(layoutOf(dataDir));
  if (daemon === null) throw new Error('the engine does not run');
  return daemon.pid;
}

async function signedIn(running: Running): Promise<Call> {
  return client(running.address, await signInAdmin(running));
}

type Signed = { readonly address: string; readonly token: string };

const stateOf = async (call: Call, dbId: string): Promise<unknown> =>
  (await call('GET', `/api/containers/${dbId}`)).body['status'];

/** A shell identified by a variable. */
async function marked(t: Test, at: TerminalAddress, pane: string): Promise<PageTerminal> {
  const terminal = pageTerminal(t, at, pane);
  await terminal.shows('# ');
  terminal.type(`mine=of-${pane}; echo "is $mine"\r`);
  await terminal.shows(`is of-${pane}`);
  return terminal;
}

/** A process's threads; 1 for a zombie, 0 when it is gone. */
function threadsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}

const TYPED_LINES = 50;

/** A repeated command would be visible. */
function typesLines(terminals: readonly PageTerminal[]): void {
  for (let n = 0; n < TYPED_LINES; n += 1) {
    for (const { type } of terminals) type(`echo ${n} >> "/workspace/typed-$mine"\r`);
  }
}

/** Without a click, and without an end. */
async function goesOn(t: Test, { states, until, shows, type }: PageTerminal, pane: string): Promise<void> {
  await until(() => states.some(({ kind }) => kind === 'waiting') && states.at(-1)?.kind === 'open');
  type('echo "still $mine"\r');
  await shows(`still of-${pane}`);
  t.notOk(
    states.some(({ kind }) => kind === 'over'),
    `${pane} was never over`,
  );
}

async function killed(
  t: Test,
  call: Call,
  installation: Installation,
  { address, token }: Signed,
): Promise<void> {
  const { dbId, id } = await aContainerWithCanary(call, 'killed');
  await inside(call, dbId, 'sleep 1000 & echo $! > /workspace/pid');
  const at = { address: address.replace('http', 'ws'), dbId, token };
  const panes = ['main', 'pane'];
  const terminals = await Promise.all(panes.map((pane) => marked(t, at, pane)));
  const killedMs = performance.now();
  const pid = await pidOfEngine(installation);
  process.kill(pid, 'SIGKILL');
  // Immediately: it is restarted within seconds.
  const refused = call('POST', `/api/containers/${dbId}/stop`);
  // Input is lost that it receives before its last thread has ended, which may be the first one.
  await waitFor(() => threadsOf(pid) <= 1 && !isThere(pid));
  typesLines(terminals);
  const back = Promise.all(
    terminals.map(async (terminal, n) => {
      await goesOn(t, terminal, panes[n] ?? '');
      t.comment(`${panes[n]} went on after ${Math.round(performance.now() - killedMs)} ms`);
    }),
  );
  back.catch(() => undefined);
  t.match(await refused, { status: 500, body: { error: 'failed to stop container' } });
  t.match(await stateOf(call, dbId), /^(running|stopping)$/, 'silence is not taken for an end');
  t.match(await call('GET', '/api/sessions'), { status: 200 }, 'what needs no engine goes on');
  t.equal(await eventually(partState(call, 'engine'), isReady), 'ready', 'it was started again');
  const state = await eventually(
    () => stateOf(call, dbId),
    (state) => state === 'running',
  );
  t.equal(state, 'running', 'what could not be asked for was not done');
  await back;
  const lines = await inside(
    call,
    dbId,
    'sort -n /workspace/typed-of-main; echo -; sort -n /workspace/typed-of-pane',
  );
  const all = Array.from({ length: TYPED_LINES }, (_, n) => `${n}\n`).join('');
  t.equal(lines, `${all}-\n${all}`, 'what was typed without an engine ran once, in the same shell');
  t.equal(await readCanary(call, dbId), 'kept\n');
  const alive = await inside(call, dbId, 'kill -0 $(cat /workspace/pid) && echo alive');
  t.equal(alive, 'alive\n', 'what ran in the container never stopped');
  t.match(await call('GET', `/api/containers/${dbId}`), { body: { id } });
}

/** A hung engine may still do what it was last asked for: the row tells which. */
async function hung(t: Test, call: Call, installation: Installation, invariants: Invariants): Promise<void> {
  const { dbId } = await aContainerWithCanary(call, 'hung');
  const pid = await pidOfEngine(installation);
  process.kill(pid, 'SIGSTOP');
  try {
    const refused = await call('POST', `/api/containers/${dbId}/stop`);
    t.match(refused, { status: 500, body: { error: 'failed to stop container' } });
    const { status } = await call('POST', '/api/containers', { name: 'another', ...large });
    t.equal(status, 500);
    t.match(await stateOf(call, dbId), /^(running|stopping)$/, 'silence is not taken for an end');
    t.equal(await partState(call, 'engine')(), 'degraded', 'and it is said');
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  t.equal(await eventually(partState(call, 'engine'), isReady), 'ready');
  await invariants.settled();
  const violations = await eventually(
    () => invariants.violations(),
    (found) => found.length === 0,
  );
  t.same(violations, [], 'the invariants hold');
  t.equal((await call('POST', `/api/containers/${dbId}/start`)).status, 200);
  t.equal(await readCanary(call, dbId), 'kept\n');
}

/** An administrator removes every container with the engine's own client. No request to the service deletes one. */
async function emptied(t: Test, call: Call, installation: Installation): Promise<void> {
  const { dbId, id } = await aContainerWithCanary(call, 'emptied');
  const { docker } = await openOwn(installation.dataDir);
  await docker.getContainer(id).remove({ force: true });
  const state = await eventually(
    () => stateOf(call, dbId),
    (state) => state !== 'running',
  );
  t.equal(state, 'stopped');
  const started = await call('POST', `/api/containers/${dbId}/start`);
  t.match(started, { status: 200, body: { recreated: true, old_id: id, volume_kept: true } });
  t.equal(await readCanary(call, dbId), 'kept\n');
}

/** The engine dies in the middle of an operation. */
async function dies(
  t: Test,
  call: Call,
  invariants: Invariants,
  next: (point: string) => void,
  point: string,
) {
  const { dbId } = await aContainerWithCanary(call, point.replaceAll(/[ _]/g, '-'));
  const [kind] = point.split(' ');
  const path = `/api/containers/${dbId}`;
  if (kind === 'start') await call('POST', `${path}/stop`);
  if (kind === 'restore') await call('DELETE', path);
  next(point);
  const { status } =
    kind === 'update'
      ? await call('PATCH', path, { name: 'renamed', ...large })
      : kind === 'delete'
        ? await call('DELETE', path)
        : await call('POST', `${path}/${kind}`);
  t.ok([200, 202, 500].includes(status), `${point}: answered ${status}`);
  t.equal(await eventually(partState(call, 'engine'), isReady), 'ready');
  await invariants.settled();
  // The engine's own view is complete after it has checked its leftovers.
  const violations = await eventually(
    () => invariants.violations(),
    (found) => found.length === 0,
  );
  t.same(violations, [], `${point}: the invariants hold`);
  if ((await invariants.row(dbId)).state === 'deleted') await call('POST', `${path}/restore`);
  await call('POST', `${path}/start`);
  t.equal(await readCanary(call, dbId), 'kept\n', `${point}: the volume is intact`);
  await call('DELETE', path);
}

/** The service starts on an engine without its containers, then again on its own. */
async function swapped(t: Test, installation: Installation, first: Running, before: Call): Promise<void> {
  const { dbId, id } = await aContainerWithCanary(before, 'swapped');
  await first.stop();
  const { pool } = layoutOf(installation.dataDir);
  await rename(pool, `${pool}.away`);
  await rename(`${pool}.unused`, pool);
  const onEmpty = await startService(t, installation);
  const call = await signedIn(onEmpty);
  const state = await eventually(
    () => stateOf(call, dbId),
    (state) => state !== 'running',
  );
  t.equal(state, 'stopped', 'an empty engine is not taken for a wish to delete');
  const started = await call('POST', `/api/containers/${dbId}/start`);
  t.match(started, { status: 200, body: { recreated: true, old_id: id, volume_kept: false } });
  await onEmpty.stop();
  await rename(pool, `${pool}.empty`);
  await rename(`${pool}.away`, pool);
  const back = await startService(t, installation);
  const again = await signedIn(back);
  await again('POST', `/api/containers/${dbId}/stop`);
  t.match(await again('POST', `/api/containers/${dbId}/start`), { status: 200, body: { volume_kept: true } });
  t.equal(await readCanary(again, dbId), 'kept\n');
  await back.stop();
}

t.setTimeout(1_800_000);
t.test('a private engine that fails', { timeout: 1_800_000 }, async (t) => {
  const shared = await bothEnginesOrSkip(t);
  const set = shared === null ? null : await scene(t, shared);
  if (shared === null || set === null) return;
  const { pidFile } = layoutOf(set.installation.dataDir);
  const { installation, next } = faultsOf(set.installation, pidFile);
  const running = await startService(t, installation, FAULTY);
  const { address } = running;
  const token = await signInAdmin(running);
  const call = client(address, token);
  const { docker } = await openOwn(installation.dataDir);
  const invariants = new Invariants(set.url, docker);
  await t.test('a killed engine comes back', (t) => killed(t, call, installation, { address, token }));
  await t.test('a hanging engine is replaced', (t) => hung(t, call, installation, invariants));
  await t.test('an emptied engine loses no volume', (t) => emptied(t, call, installation));
  for (const point of POINTS) {
    await t.test(`is killed: ${point}`, (t) =>
      dies(t, call, invariants, next, point).catch((error) => {
        console.error(running.output());
        throw error;
      }),
    );
  }
  await invariants.close();
  if (!t.passing()) t.comment(running.output().slice(-20_000));
  if (isWhole)
    await t.test('an engine empty at the start loses no volume', (t) =>
      swapped(t, set.installation, running, call),
    );
});
