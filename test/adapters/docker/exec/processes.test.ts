import t, { type Test } from 'tap';
import type { RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import { collect } from '../../../contract/containers/inside/container-commands.ts';
import {
  containerProcessesContract,
  processesIn,
} from '../../../contract/containers/processes/container-processes.ts';
import { aSpec, runIn } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { eventually, waitForValue } from '../../../support/patience.ts';
import { needs } from '../../../support/run/infra.ts';

const NOTHING = { stdout: 0, stderr: 0 };

const sh = async ({ commands }: TestInstance, handle: RuntimeHandle, script: string): Promise<string> =>
  (await runIn(commands, handle, ['sh', '-c', script])).stdout.toString().trim();

/** A shell, a child in a session of its own, and a grandchild without the mark. */
const TREE = `setsid sleep 4001 & env -i sh -c 'sleep 4002; :' & echo started; wait`;
const LEFT = "pgrep -c -f 'sleep 400[0-9]' || true";

const TERMINAL = { terminal: { cols: 80, rows: 24 } };
const WAITS_FOR_A_SIZE = 'trap "stty size; exit 4" WINCH; echo ready; while :; do sleep 0.1; done';
const LEAVES_ITS_TERMINAL =
  'exec < /dev/null > /dev/null 2>&1; sleep 0.3; echo back > /dev/tty; setsid -f sleep 4007; exit 6';

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await containerProcessesContract('docker', instance);
  const busybox = await needs(t, 'busybox');
  if (busybox !== null) {
    const image = busybox.bare;
    await containerProcessesContract('docker with BusyBox', { ...instance, image, hasTerminals: false });
    await t.test('a signal reaches a command in a container with BusyBox', (t) =>
      signalled(t, instance, image),
    );
  }
  const handle = await instance.runtime.create(aSpec(instance.image));
  await instance.runtime.start(handle);
  await t.test('a signal reaches everything that a process started', (t) => tree(t, instance, handle));
  await t.test('an end kills what ignores SIGTERM', (t) => stubborn(t, instance, handle));
  await t.test('a process that signals its group does not lose its output', (t) =>
    group(t, instance, handle),
  );
  await t.test('a terminal', (t) => terminal(t, instance, handle));
  await t.test('a flood is capped while it is followed', (t) => flood(t, instance, handle));
  await t.test('a killed supervisor is noticed', (t) => lost(t, instance, handle));
  await t.test('a restarted container has the output, but not the process', (t) =>
    again(t, instance, handle),
  );
}

/** BusyBox lists the processes in another way; other ones come before and behind the commands. */
async function signalled(t: Test, { runtime, commands }: TestInstance, image: string): Promise<void> {
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  const running = [];
  for (let n = 0; n < 3; n += 1)
    running.push(await commands.open(handle, { command: ['sleep', '3600'], timeoutSeconds: 60 }));
  for (const command of running) {
    const collected = collect(command);
    await command.signal('TERM');
    t.equal((await collected).exitCode, 143);
  }
}

async function tree(t: Test, instance: TestInstance, handle: RuntimeHandle): Promise<void> {
  const { start, output, ended } = processesIn(instance.processes, handle);
  const id = await start(['sh', '-c', TREE]);
  await waitForValue(
    () => sh(instance, handle, 'pgrep -c -x sleep || true'),
    (count) => Number(count) >= 2,
  );
  t.ok(await instance.processes.signal(handle, id, 'TERM'));
  t.match(await ended(id), { exitCode: 143 });
  t.equal(await sh(instance, handle, LEFT), '0');
  t.equal(String((await output(id))?.stdout), 'started\n');
}

async function stubborn(t: Test, instance: TestInstance, handle: RuntimeHandle): Promise<void> {
  const { start, output } = processesIn(instance.processes, handle);
  const id = await start([
    'sh',
    '-c',
    'trap "" TERM; setsid sh -c "trap \\"\\" TERM; sleep 4003; :" & echo ready; sleep 4004; :',
  ]);
  const isReady = async () => String((await output(id, NOTHING, false))?.stdout);
  await waitForValue(isReady, (text) => text === 'ready\n');
  t.match(await instance.processes.end(handle, id), { kind: 'exited', exitCode: 137 });
  t.equal(await sh(instance, handle, LEFT), '0');
}

async function group(t: Test, instance: TestInstance, handle: RuntimeHandle): Promise<void> {
  const { start, output, ended } = processesIn(instance.processes, handle);
  const id = await start([
    'sh',
    '-c',
    'trap "echo last words; exit 9" INT; echo first; kill -INT 0; sleep 9',
  ]);
  t.equal(String((await output(id))?.stdout), 'first\nlast words\n');
  t.match(await ended(id), { exitCode: 9 });
}

async function terminal(
  t: Test,
  { processes, ...instance }: TestInstance,
  handle: RuntimeHandle,
): Promise<void> {
  const { start, output, ended } = processesIn(processes, handle);
  const text = async (id: string, follow = true) => String((await output(id, NOTHING, follow))?.stdout);
  const waiting = await start(['sh', '-c', WAITS_FOR_A_SIZE], TERMINAL);
  await waitForValue(
    () => text(waiting, false),
    (shown) => shown === 'ready\r\n',
  );
  t.ok(await processes.resize(handle, waiting, { cols: 100, rows: 40 }));
  t.equal(await text(waiting), 'ready\r\n40 100\r\n', 'the program gets SIGWINCH');
  t.match(await ended(waiting), { exitCode: 4 });
  const numbers = Array.from({ length: 50_000 }, (_, at) => `${at + 1}\r\n`).join('');
  for (let run = 0; run < 3; run += 1)
    t.ok((await text(await start(['seq', '50000'], TERMINAL))) === numbers, 'no end is lost');
  const away = await start(['sh', '-c', LEAVES_ITS_TERMINAL], TERMINAL);
  t.equal(await text(away), 'back\r\n', 'a program may close its terminal and come back');
  t.match(await ended(away), { exitCode: 6 }, 'whatever it leaves behind');
  await sh({ processes, ...instance }, handle, 'pkill -x -f "sleep 4007"');
}

async function flood(t: Test, instance: TestInstance, handle: RuntimeHandle): Promise<void> {
  const { start } = processesIn(instance.processes, handle);
  const total = 20_000_000;
  const id = await start(['sh', '-c', `yes 0123456 | head -c ${total}; echo END >&2`]);
  const opened = await instance.processes.output(handle, id, NOTHING, true);
  let [at, errors] = [0, ''];
  for await (const { stream, offset, data } of opened?.pieces ?? []) {
    if (stream === 'stderr') errors += data;
    else {
      const line = '0123456\n'.repeat(2).slice(offset % 8, (offset % 8) + 8);
      if (!data.subarray(0, 8).equals(Buffer.from(line).subarray(0, data.length)))
        t.fail(`other bytes at ${offset}: ${data.subarray(0, 8)}`);
      at = offset + data.length;
    }
  }
  t.equal(at, total, 'the end comes, whatever was skipped');
  t.equal(errors, 'END\n');
  const kept = await instance.processes.kept(handle, id);
  t.equal(kept?.stdout.bytes, total);
  const size = Number(await sh(instance, handle, `du -sk /run/berth-processes/${id} | cut -f1`));
  t.ok(size <= 1100, `${size} KiB kept`);
  const rest = await processesIn(instance.processes, handle).output(id);
  t.equal(rest?.start.stdout, kept?.stdout.firstKept);
}

async function lost(t: Test, instance: TestInstance, handle: RuntimeHandle): Promise<void> {
  const { start, state } = processesIn(instance.processes, handle);
  const id = await start(['sleep', '4005']);
  const folder = `/run/berth-processes/${id}`;
  await sh(instance, handle, `read -r p s < ${folder}/state; kill -9 \${s%:*}`);
  t.match(await state(id), { kind: 'running' }, 'the program itself still runs');
  await sh(instance, handle, `read -r p s < ${folder}/state; kill -9 \${p%:*}`);
  t.match(
    await eventually(
      () => state(id),
      (now) => now?.kind === 'lost',
    ),
    { kind: 'lost' },
  );
  t.equal(await sh(instance, handle, 'stat -c %a:%U /run/berth-processes'), '700:root', 'for root alone');
}

async function again(t: Test, instance: TestInstance, handle: RuntimeHandle): Promise<void> {
  const { start, state, output } = processesIn(instance.processes, handle);
  const id = await start(['sh', '-c', 'echo before; sleep 4006']);
  const written = async () => String((await output(id, NOTHING, false))?.stdout);
  await waitForValue(written, (text) => text === 'before\n');
  const { docker } = instance;
  await docker.getContainer(handle.runtimeId).kill();
  await waitForValue(
    () => instance.runtime.observe(handle),
    ({ kind }) => kind === 'stopped',
  );
  await instance.runtime.start(handle);
  t.match(await state(id), { kind: 'lost' });
  t.equal(String((await output(id, NOTHING, false))?.stdout), 'before\n');
  const next = await start(['true']);
  t.match(await state(id), { kind: 'lost' }, 'also when the next one has started');
  t.not(await state(next), null);
}
