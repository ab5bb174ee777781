import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import type { RuntimeHandle } from '../../src/ports/containers/container-runtime.ts';
import type { TerminalBackend } from '../../src/ports/terminals/terminal-backend.ts';
import { aSpec } from '../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine/engine.ts';
import { descriptorsOf, engineProcesses } from '../support/engine/host.ts';
import { eventually } from '../support/process/fault-scene.ts';
import { anAdmin, aPerson, aService, as } from '../support/service/service.ts';
import { type TerminalClient, terminalClient } from '../support/terminal/terminal-client.ts';
import { aContainerOf, listening } from '../support/terminal/terminals.ts';

const CYCLES = process.env['FAULTS'] === 'all' ? 1_000 : 25;
// Each is some six programs that the engine starts: more at a time only wait for each other.
const LANES = 4;
const TELL_EVERY = 100;
const WARM_UP = 10;
const PATIENCE_SECONDS = 60;
/** Connections that the engine keeps open for a while. */
const SPARE_DESCRIPTORS = 24;
const SPARE_HEAP_BYTES = 12 * 1_048_576;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** The backend of an engine, whose one container stands for every container. */
const standIn = (terminals: TerminalBackend, handle: RuntimeHandle): TerminalBackend => ({
  ...terminals,
  open: (_, request) => terminals.open(handle, request),
  killMuxSession: (_, ...asked) => terminals.killMuxSession(handle, ...asked),
  leftovers: () => terminals.leftovers(handle),
  endMarked: (_, marker) => terminals.endMarked(handle, marker),
});

/** The service with its records in memory, on a real engine. */
async function aScene(t: Test, { terminals, runtime, image }: TestInstance) {
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
  const shell = async (script: string): Promise<string> => {
    const request = { command: ['sh', '-c', script], timeoutSeconds: 20, maxOutputBytes: 10_000 };
    return (await runtime.exec(handle, request)).stdout.toString().trim();
  };
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
    /** Nobody came back to what was kept, and all that was to end has ended. */
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

/** With programs that go on, which another socket takes over. */
const isReplaced: End = async (scene, client, pane) => {
  client.socket.send(Buffer.from('sleep 1000 & cat\r'));
  const second = await scene.open(pane);
  client.socket.terminate();
  second.socket.close(1000);
};

/** The session of `main` goes on, so nothing is left to run in it. */
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

// A few minutes where the machine does nothing else; ten times as long where it does.
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
