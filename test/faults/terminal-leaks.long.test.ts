import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import type { RuntimeHandle } from '../../src/ports/containers/container-runtime.ts';
import type { TerminalBackend } from '../../src/ports/terminals/terminal-backend.ts';
import { freshDatabase } from '../support/database/database.ts';
import { aSpec, runIn } from '../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine/engine.ts';
import { descriptorsOf, engineProcesses } from '../support/engine/instance.ts';
import { type Call, eventually, inside } from '../support/process/fault-scene.ts';
import { anInstallation, client, signInAdmin, startService } from '../support/process/running-service.ts';
import { anAdmin, aPerson, aService, as } from '../support/service/service.ts';
import { type TerminalClient, terminalClient } from '../support/terminal/terminal-client.ts';
import { aContainerOf, listening } from '../support/terminal/terminals.ts';

const CYCLES = process.env['FAULTS'] === 'all' ? 1_000 : 25;
// Each starts some six programs in the engine: more at a time only wait for each other.
const LANES = 4;
const TELL_EVERY = 100;
const WARM_UP = 10;
const PATIENCE_SECONDS = 60;
/** Connections that the engine keeps open for a while. */
const SPARE_DESCRIPTORS = 24;
const SPARE_HEAP_BYTES = 12 * 1_048_576;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** An engine's terminal backend whose one container stands for all. */
const standIn = (terminals: TerminalBackend, handle: RuntimeHandle): TerminalBackend => ({
  ...terminals,
  open: (_, request) => terminals.open(handle, request),
  killMuxSession: (_, ...asked) => terminals.killMuxSession(handle, ...asked),
  leftovers: () => terminals.leftovers(handle),
  endMarked: (_, marker) => terminals.endMarked(handle, marker),
});

/** The service with records in memory, on a real engine. */
async function aScene(t: Test, { terminals, runtime, commands, image }: TestInstance) {
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  let nowMs = 0;
  const terminalBackend = standIn(terminals, handle);
  const service = await aService({ terminalBackend, monotonicMs: () => nowMs });
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  await service.ports.storage.repositories.settings.change({ requestsPerMinute: 0 });
  const dbId = await aContainerOf(service, ada);
  const at = { address: await listening(t, service), dbId, token: ada.token };
  const shell = async (script: string): Promise<string> =>
    (await runIn(commands, handle, ['sh', '-c', script])).stdout.toString().trim();
  return {
    handle,
    shell,
    open: (pane: string) =>
      terminalClient(at, { connection_id: pane }, { patienceMs: PATIENCE_SECONDS * 1000 }),
    closeByAdmin: async (pane: string) => {
      const { terminals: all } = (await as(service, root)('GET', '/api/admin/terminals')).json();
      const found = all.find((one: { connection_id: string }) => one.connection_id === pane);
      await as(service, root)('DELETE', `/api/admin/terminals/${found?.id}`);
    },
    /** Waiting terminals have expired, and every end is complete. */
    settle: async () => {
      nowMs += 400_000;
      await service.writeDue();
      await service.terminals.idle();
    },
  };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

type End = (scene: Scene, client: TerminalClient, pane: string) => Promise<unknown>;

const isSaidGoodbye: End = async (_, { socket }) => socket.close(1000);
const isDropped: End = async (_, { socket }) => socket.terminate();
const isClosedByAdmin: End = (scene, _, pane) => scene.closeByAdmin(pane);

const isExited: End = async (_, client) => {
  await client.until(() => client.output().includes('# '));
  client.socket.send(Buffer.from('exit\r'));
  const isClosed = async () => client.socket.readyState === client.socket.CLOSED;
  const shown = () => JSON.stringify(client.output().toString().slice(-500));
  if (!(await eventually(isClosed, Boolean, PATIENCE_SECONDS))) throw new Error(`still open: ${shown()}`);
};

/** With running programs, which another socket takes over. */
const isReplaced: End = async (scene, client, pane) => {
  client.socket.send(Buffer.from('sleep 1000 & cat\r'));
  const second = await scene.open(pane);
  client.socket.terminate();
  second.socket.close(1000);
};

/** The session of `main` survives, so no program may remain in it. */
const MAIN_ENDS = [isSaidGoodbye, isDropped, isClosedByAdmin];
const PANE_ENDS = [...MAIN_ENDS, isExited, isReplaced];

async function cycles(t: Test, scene: Scene, count: number): Promise<void> {
  let next = 0;
  let done = 0;
  const lane = async (number: number): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      const isMain = number === 0 && n % 7 === 0;
      const pane = isMain ? 'main' : `p${n}`;
      const ends = isMain ? MAIN_ENDS : PANE_ENDS;
      const client = await scene.open(pane);
      await ends[n % ends.length]?.(scene, client, pane);
      client.socket.terminate();
      done += 1;
      if (done % TELL_EVERY === 0) t.comment(`${done} of ${count}`);
      if (n % 20 === 19) await scene.settle();
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
}

// A few minutes on an idle machine; ten times as long on a busy one.
t.setTimeout(3_600_000);
t.test(`${CYCLES} terminals opened, killed and dropped leave nothing`, async (t) => {
  const engine = await engineOrSkip(t);
  if (engine === null) return;
  const scene = await aScene(t, await testInstance(t, engine));
  const processes = await engineProcesses(engine, scene.handle.runtimeId);
  if (processes === null) t.comment('the engine is not on this machine: its descriptors are not looked at');
  const running = () => scene.shell('ls -d /proc/[0-9]* | wc -l');
  const now = async () => {
    await scene.settle();
    collectGarbage();
    return {
      running: await running(),
      engine: processes === null ? 0 : descriptorsOf(processes.engine),
      shim: processes === null ? 0 : descriptorsOf(processes.shim),
      heap: process.memoryUsage().heapUsed,
    };
  };
  await (await scene.open('main')).until(() => true);
  await cycles(t, scene, WARM_UP);
  await scene.settle();
  const marked = () => scene.shell('grep -lsF BERTH_TERM= /proc/[0-9]*/environ | wc -l');
  t.equal(await eventually(marked, (count) => count === '0', 30), '0');
  const before = await now();

  await cycles(t, scene, CYCLES);
  const isBack = ({ running, engine, shim, heap }: typeof before): boolean =>
    running === before.running &&
    engine <= before.engine + SPARE_DESCRIPTORS &&
    shim <= before.shim + SPARE_DESCRIPTORS &&
    heap <= before.heap + SPARE_HEAP_BYTES;
  const after = await eventually(now, isBack, 60);
  t.comment(JSON.stringify({ before, after }));
  t.equal(after.running, before.running, 'processes in the container');
  t.ok(after.engine <= before.engine + SPARE_DESCRIPTORS, `engine: ${before.engine}, then ${after.engine}`);
  t.ok(after.shim <= before.shim + SPARE_DESCRIPTORS, `shim: ${before.shim}, then ${after.shim}`);
  t.ok(after.heap <= before.heap + SPARE_HEAP_BYTES, `heap: ${before.heap}, then ${after.heap}`);
  t.equal(await scene.shell("tmux -S /run/berth-tmux list-sessions -F '#{session_name}'"), 'main');
});

const ROUNDS = process.env['FAULTS'] === 'all' ? 10 : 1;
const BURST = 200;
const NAMES = 'sed -n "s/^Name:.//p" /proc/[0-9]*/status | sort | uniq -c | tr -s " \\n" " ;"';
const SESSIONS = "tmux -S /run/berth-tmux list-sessions -F '#{session_name}' | sort | tr '\\n' ' '";
/** Longer than a client waits for its turn, and than opening 200 in sequence on a busy machine. */
const PATIENCE_MS = 120_000;
const GONE_WITHIN_SECONDS = 75;
/** Keep-alive connections to the engine and the database. */
const SPARE_AFTER_BURST = 16;

type Outcome = 'ready' | `refused ${string}` | `closed ${number}` | 'left' | 'silent';
type One = { readonly socket: WebSocket; readonly outcome: Promise<Outcome> };

/** A requested terminal. A `hasty` one leaves when its upgrade is answered. */
function ask(url: string, origin: string, token: string, hasty: boolean): One {
  const socket = new WebSocket(url, ['berth.terminal.v1', `bearer.${token}`], { origin });
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
  setTimeout(resolve, PATIENCE_MS, 'silent').unref();
  socket.on('error', () => {});
  socket.on('close', (code) => resolve(`closed ${code}`));
  socket.on('unexpected-response', (request, { statusCode, headers }) => {
    resolve(
      `refused ${statusCode ?? 0}${headers['retry-after'] === undefined ? ', not told when to come' : ''}`,
    );
    request.destroy();
  });
  if (hasty)
    socket.on('open', () => {
      resolve('left');
      socket.terminate();
    });
  socket.on('message', (data, isBinary) => {
    if (!isBinary && JSON.parse(String(data)).type === 'ready') resolve('ready');
  });
  return { socket, outcome };
}

/** All at once; half of the opened ones are closed, and every fourth leaves before `ready`. */
async function burst(t: Test, address: string, dbId: string, token: string, round: number): Promise<void> {
  const at = `${address.replace('http', 'ws')}/api/containers/${dbId}/terminal`;
  const all = Array.from({ length: BURST }, (_, n) =>
    ask(`${at}?connection_id=r${round}-${n}`, address, token, n % 4 === 3),
  );
  const outcomes = await Promise.all(all.map(({ outcome }) => outcome));
  t.comment(`round ${round}`, JSON.stringify(Object.fromEntries(countBy(outcomes))));
  const expected = new Set<Outcome>(['ready', 'refused 503', 'closed 1013', 'closed 4014', 'left']);
  t.same(
    outcomes.filter((outcome) => !expected.has(outcome)),
    [],
    'each is open, or refused in words',
  );
  t.ok(outcomes.includes('ready'), 'some are open');
  for (const { socket } of all) socket.close(1000);
}

function countBy(outcomes: readonly Outcome[]): ReadonlyMap<Outcome, number> {
  const counts = new Map<Outcome, number>();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return counts;
}

async function aRoomyContainer(call: Call): Promise<string> {
  const sizes = { memory_mb: 2048, cpu_shares: 2000, disk_mb: 512 };
  const { status, body } = await call('POST', '/api/containers', { name: 'burst', ...sizes });
  if (status !== 201) throw new Error(`create answered ${status} ${JSON.stringify(body)}`);
  return body['db_id'] as string;
}

t.test(`${BURST} terminals at once leave nothing a minute later, ${ROUNDS} times`, async (t) => {
  const url = await freshDatabase(t);
  const installation = await anInstallation(t, { DATABASE_URL: url ?? '' });
  if (url === null || installation === null) return;
  const db = new pg.Client(url);
  await db.connect();
  t.teardown(() => db.end());
  const running = await startService(t, installation);
  const token = await signInAdmin(running);
  const call = client(running.address, token);
  await call('PATCH', '/api/admin/settings', { requests_per_minute: 0 });
  const dbId = await aRoomyContainer(call);
  const count = async (table: string): Promise<number> =>
    (await db.query(`select count(*)::int as n from ${table}`)).rows[0].n;
  const left = async () => ({
    processes: await inside(call, dbId, NAMES),
    sessions: await inside(call, dbId, SESSIONS),
    holds: await count('terminal_holds'),
    records: await count('terminal_records'),
    descriptors: descriptorsOf(running.child.pid ?? 0),
  });
  type Left = Awaited<ReturnType<typeof left>>;
  // One stays, so that the tmux server stays too.
  const main = ask(
    `${running.address.replace('http', 'ws')}/api/containers/${dbId}/terminal`,
    running.address,
    token,
    false,
  );
  t.equal(await main.outcome, 'ready');
  const before = await left();
  t.comment(JSON.stringify(before));
  const isBack = (now: Left): boolean =>
    now.descriptors <= before.descriptors + SPARE_AFTER_BURST &&
    JSON.stringify({ ...now, descriptors: 0 }) === JSON.stringify({ ...before, descriptors: 0 });
  for (let round = 1; round <= ROUNDS; round += 1) {
    await burst(t, running.address, dbId, token, round);
    const begunMs = performance.now();
    const after = await eventually(left, isBack, GONE_WITHIN_SECONDS);
    t.comment(`after ${Math.round((performance.now() - begunMs) / 1000)} s`, JSON.stringify(after));
    t.same(
      { ...after, descriptors: 0 },
      { ...before, descriptors: 0 },
      'what is left in the container and on record',
    );
    t.ok(
      after.descriptors <= before.descriptors + SPARE_AFTER_BURST,
      `descriptors: ${before.descriptors}, then ${after.descriptors}`,
    );
  }
  main.socket.close(1000);
});
