import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { startEmbedded } from '../../src/adapters/postgres/embedded/index.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { type Child, isThere, runModule, runProcess } from '../support/child.ts';
import { aFolder, clearFolder } from '../support/folder.ts';
import { eventually, waitFor } from '../support/patience.ts';
import { type Answer, folderOf, type Message, type Need, needs, socketOf } from '../support/run/infra.ts';
import { withDatabase } from '../support/run/keeper/postgres.ts';

const LISTENS_WITH_NO_QUEUE = `
  import { createServer } from 'node:net';
  createServer().listen({ path: PATH, backlog: 1 }, () => console.log('ready'));
`;

/** A process in place of a test run: its keeper lives as long. */
function aRun(t: Test): number {
  const run = runProcess(t, 'sleep', ['600']).process.pid;
  if (run === undefined) throw new Error('no process');
  t.teardown(() => clearFolder(folderOf(run)));
  return run;
}

const aKeeper = (t: Test, run: number): Child =>
  runProcess(t, process.execPath, ['test/support/run/keeper.ts', `${run}`]);

/** A connection to the run's keeper, once it listens. */
async function connected(run: number, keeper: Child): Promise<Socket> {
  const tried = async (): Promise<Socket | null> => {
    if (keeper.process.exitCode !== null) throw new Error(keeper.errors());
    const socket = connect(socketOf(run));
    return await once(socket, 'connect').then(
      () => socket,
      () => null,
    );
  };
  const socket = await eventually(tried, (open) => open !== null, { patienceMs: 60_000, everyMs: 50 });
  if (socket === null) throw new Error(`no connection: ${keeper.errors()}`);
  return socket;
}

const askPostgres = (run: number, keeper: Child) => askFor('postgres', run, keeper);

async function askFor<N extends Need>(need: N, run: number, keeper: Child): Promise<Answer<N>> {
  const socket = await connected(run, keeper);
  socket.write(`${JSON.stringify({ need })}\n`);
  for await (const line of createInterface({ input: socket })) {
    const message = JSON.parse(line) as Message;
    if ('answer' in message) return message.answer as Answer<N>;
  }
  throw new Error(`no answer: ${keeper.errors()}`);
}

/** Resets the connection like a killed test process with an unread answer. */
async function loseConnection(run: number, keeper: Child): Promise<void> {
  const socket = new Socket().pause();
  socket.connect(socketOf(run)).write('{"need":"postgres"}\n');
  await once(socket, 'connect');
  // When a later question is answered, this one is too.
  await askPostgres(run, keeper);
  socket.destroy();
  await once(socket, 'close');
}

t.test("a run's infrastructure outlives its test processes and its keeper", async (t) => {
  const dead = runProcess(t, 'true', []);
  await dead.ended;
  const fixed = folderOf(dead.process.pid as number);
  fixInPlace(t, fixed);
  const run = aRun(t);
  const first = aKeeper(t, run);
  const answer = await askPostgres(run, first);
  t.match(answer, { ok: true }, "a dead run's folder that cannot be removed does not stop a keeper");
  await waitFor(() => first.errors().includes(`could not remove ${fixed}`), { what: first.errors });
  await loseConnection(run, first);
  t.same(await askPostgres(run, first), answer, 'the keeper survives a connection that is reset');
  first.process.kill('SIGKILL');
  await first.ended;
  const second = aKeeper(t, run);
  t.same(await askPostgres(run, second), answer, 'the next keeper takes the server and its template over');
  (await connected(run, second)).write('{"stop":true}\n');
  t.equal(await second.ended, 0, second.errors());
  t.notOk(existsSync(folderOf(run)), 'and nothing is left');
});

t.test('a server may stop while its last client closes its connection', async (t) => {
  const server = await startEmbedded(aFolder(t), { durable: false });
  t.teardown(() => server.stop());
  let backend = 0;
  await withDatabase(server.url(), async (db) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
    backend = rows[0]?.pid ?? 0;
    process.kill(backend, 'SIGSTOP');
  });
  const stopped = server.stop();
  await waitFor(() => pendingSignals(backend).length > 0);
  process.kill(backend, 'SIGCONT');
  await stopped;
  t.notOk(isThere(backend), 'it ended with an error for a client that had ended');
});

/** The signals that wait for a stopped process. */
function pendingSignals(pid: number): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return /^ShdPnd:\s*0*(?<mask>[0-9a-f]*)$/m.exec(status)?.groups?.['mask'] ?? '';
}

/** Makes a folder that this user cannot remove; root needs a mount for that. */
function fixInPlace(t: Test, folder: string): void {
  const inner = join(folder, 'inner', 'most');
  mkdirSync(inner, { recursive: true });
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync('mount', ['-t', 'tmpfs', 'none', inner]);
  else chmodSync(dirname(inner), 0);
  t.teardown(() => {
    if (isRoot) execFileSync('umount', [inner]);
    else chmodSync(dirname(inner), 0o700);
    rmSync(folder, { recursive: true });
  });
}

t.test('a part that ends by itself is restarted once, then its end is reported', async (t) => {
  if ((await needs(t, 'engine')) === null) return;
  const run = aRun(t);
  const keeper = aKeeper(t, run);
  let pid = 0;
  const ask = () => askFor('service', run, keeper);
  const killed = async (): Promise<Answer<'service'>> => {
    process.kill(pid, 'SIGKILL');
    return await eventually(ask, (answer) => !answer.ok || answer.value.pid !== pid);
  };
  const first = await ask();
  if (first.ok) pid = first.value.pid;
  t.same(await ask(), first, 'everyone has the same one');
  const second = await killed();
  t.match(second, { ok: true });
  if (second.ok) pid = second.value.pid;
  t.match(await killed(), { ok: false, reason: /^the service of the run ended with SIGKILL/ });
  t.match(await askFor('systemPostgres', run, keeper), { ok: Boolean }, 'and the rest goes on');
  (await connected(run, keeper)).write('{"stop":true}\n');
  t.equal(await keeper.ended, 0, keeper.errors());
});

t.test('the Chromium of tests sees no change of the network of this machine', async (t) => {
  const browser = await openBrowser(t);
  if (browser === null) return;
  const devtools = await browser.newBrowserCDPSession();
  const { processInfo } = await devtools.send('SystemInfo.getProcessInfo');
  const own = processInfo.find(({ type }) => type === 'browser')?.id ?? 0;
  t.equal(groupOf(`${own}`), own, 'it leads the group of its processes');
  t.same(netlinkSocketsOf(own), []);
});

/** The processes of a group that receive the kernel's messages about network interfaces. */
function netlinkSocketsOf(group: number): readonly string[] {
  const sockets = readFileSync('/proc/net/netlink', 'utf8').trim().split('\n').slice(1);
  const owners = sockets.map((line) => line.split(/\s+/)[2] ?? '');
  return owners.filter((pid) => groupOf(pid) === group);
}

/** null for a process that is gone. */
function groupOf(pid: string): number | null {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').split(' ')[3]);
  } catch {
    return null;
  }
}

t.test('a keeper too busy to accept connections keeps its socket', async (t) => {
  const run = aRun(t);
  mkdirSync(folderOf(run), { mode: 0o711 });
  const busy = runModule(t, LISTENS_WITH_NO_QUEUE.replace('PATH', JSON.stringify(socketOf(run))));
  await busy.line();
  busy.process.kill('SIGSTOP');
  const queued = await fillQueue(t, socketOf(run));
  const other = aKeeper(t, run);
  t.equal(await other.line(), 'the other keeper of this run is busy');
  for (const socket of queued) socket.destroy();
  busy.process.kill('SIGCONT');
  t.equal(await other.ended, 0, 'and the second keeper ends as soon as the first one answers');
});

/** Connects until the queue of a listener that accepts nothing is full. */
async function fillQueue(t: Test, path: string): Promise<readonly Socket[]> {
  const queued: Socket[] = [];
  for (;;) {
    const socket = connect(path);
    t.teardown(() => socket.destroy());
    const refused = await once(socket, 'connect').then(
      () => false,
      () => true,
    );
    if (refused) return queued;
    queued.push(socket);
  }
}
