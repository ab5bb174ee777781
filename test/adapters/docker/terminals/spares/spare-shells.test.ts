import { once } from 'node:events';
import type Docker from 'dockerode';
import t, { type Test } from 'tap';
import { engineCalls } from '../../../../../src/adapters/docker/engine/engine-client.ts';
import { openExec } from '../../../../../src/adapters/docker/exec/exec-stream.ts';
import {
  SPARE_END,
  SPARE_READY,
  spareLine,
  spareProgram,
} from '../../../../../src/adapters/scripts/terminals/spares/spare-scripts.ts';
import { outputUntil } from '../../../../../src/adapters/scripts/terminals/terminal-start.ts';
import type { RuntimeHandle } from '../../../../../src/ports/containers/container-runtime.ts';
import type { PtyStream } from '../../../../../src/ports/terminals/terminal-backend.ts';
import { aTerminal, reader } from '../../../../contract/terminals/terminal-backend.ts';
import { aSpec, runIn } from '../../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../../support/engine/engine.ts';
import { eventually, waitFor } from '../../../../support/patience.ts';
import { needs } from '../../../../support/run/infra.ts';

/** Each check runs a program in the container. */
const CHECK_MS = 50;

/**
 * Prints the process number of the spare that waits for its line: its terminal passes on each character. BusyBox may lack
 * `pgrep`.
 */
const WAITING_SPARE = `for p in /proc/[0-9]*; do
  tr '\\0' ' ' < $p/cmdline | grep -q 'berth: [r]eady' && stty -a < $p/fd/0 | grep -q -e -icanon && echo \${p#/proc/}
done 2>/dev/null`;

type Box = TestInstance & { readonly handle: RuntimeHandle };

t.test('only arguments that a shell reads back unchanged are put on a line', async (t) => {
  t.equal(spareLine('mark', ['berth', '80', '/bin/bash']), 'mark berth 80 /bin/bash\n');
  for (const argument of ['', 'a b', 'a\nb', 'ä', '\x04']) t.equal(spareLine('mark', [argument]), null);
});

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  const handle = await instance.runtime.create(aSpec(instance.image));
  await instance.runtime.start(handle);
  const box: Box = { ...instance, handle };
  await t.test('the next terminal uses a spare and behaves like any other', (t) => opensInSpare(t, box));
  const bash = { image: instance.image, shell: '/bin/bash', profile: '.bash_profile' };
  await t.test('a plain shell from a spare has the settings of any other', (t) =>
    plainShells(t, instance, bash),
  );
  await t.test('an image without `stty` has terminals of the right size', (t) => withoutStty(t, instance));
  await t.test('a dead spare only delays the opening', (t) => killed(t, box));
  await t.test('a spare that answers late ends before another program starts', (t) => late(t, box));
  await t.test('a spare ends when its terminal must not start', (t) => endsWhenRefused(t, box));
  await t.test('a waiting spare that prints something ends', (t) => endsWhenItPrints(t, box));
  await t.test('a spare ends when its service falls silent, or tells it to end', (t) =>
    endsWhenSilent(t, instance.docker, handle.runtimeId),
  );
  const busybox = await needs(t, 'busybox');
  if (busybox !== null) {
    const bare = await instance.runtime.create(aSpec(busybox.bare));
    await instance.runtime.start(bare);
    await t.test('the same with BusyBox', (t) => endsWhenSilent(t, instance.docker, bare.runtimeId));
    const ash = { image: busybox.bare, shell: '/bin/sh', profile: '.profile' };
    await t.test('a plain shell of BusyBox too', (t) => plainShells(t, instance, ash));
  }
}

async function sh({ commands, handle }: Box, script: string): Promise<string> {
  return (await runIn(commands, handle, ['sh', '-c', script])).stdout.toString().trim();
}

async function spareOf(box: Box): Promise<string> {
  const pid = () => sh(box, WAITING_SPARE);
  return await eventually(pid, (found) => /^\d+$/.test(found), { everyMs: CHECK_MS });
}

async function opensInSpare(t: Test, box: Box): Promise<void> {
  const { terminals, handle } = box;
  const first = await terminals.open(handle, aTerminal('first'));
  const spare = await spareOf(box);
  const next = await terminals.open(handle, aTerminal('next', { cols: 100, rows: 30 }));
  // The spare answers before it becomes the multiplexer.
  const program = () => sh(box, `cat /proc/${spare}/comm`);
  t.match(await eventually(program, (name) => /^tmux/.test(name)), /^tmux/, 'it has become the terminal');
  t.equal(next.muxSession, 'next');
  const facts = 'env | grep -vE "^(_|TMUX|TMUX_PANE|BERTH_TERM)=" | sort; stty -a; ulimit -a; pwd';
  const factsIn = async (pty: PtyStream, file: string): Promise<string> => {
    const output = reader(pty);
    pty.write(`(${facts}) > ${file}; echo d""one\r`);
    await output.until('done');
    return await sh(box, `cat ${file}`);
  };
  const [before, after] = [await factsIn(first, '/tmp/first'), await factsIn(next, '/tmp/next')];
  const ofSize = /(rows|columns) \d+/g;
  t.same(after.replace(ofSize, ''), before.replace(ofSize, ''));
  t.match(after, /rows 30; columns 100/);
  const environ = (pid: string) =>
    sh(box, `tr '\\0' '\\n' < /proc/${pid}/environ | grep -v BERTH_TERM | sort`);
  const clients = await eventually(
    async () => (await sh(box, 'pgrep -x "tmux: client"')).split('\n'),
    (pids) => pids.length === 2,
  );
  const [firstEnvironment, nextEnvironment] = await Promise.all(clients.map(environ));
  t.same(nextEnvironment, firstEnvironment);
  await Promise.all([first.close(), next.close()]);
  t.notOk((await terminals.leftovers(handle)).marks.length > 0, 'nothing of them is left');
}

/**
 * What a shell finds before it reads its first line: `stty` is called by its start file. A spare was one shell more, which
 * BusyBox counts.
 */
async function plainShells(
  t: Test,
  instance: TestInstance,
  { image, shell, profile }: { readonly image: string; readonly shell: string; readonly profile: string },
): Promise<void> {
  const { runtime, terminals } = instance;
  const handle = await runtime.create(aSpec(image, { env: { BERTH_TMUX: 'off' } }));
  await runtime.start(handle);
  const box: Box = { ...instance, handle };
  const facts =
    '{ stty -a; env; ulimit -a; set -o; pwd; } | grep -vE "BERTH_TERM|SHLVL|_=" | sort > /tmp/facts-$$';
  await sh(box, `mkdir -p /tmp; echo '${facts}' > ~/${profile}`);
  const first = await terminals.open(handle, aTerminal('first', { shell }));
  await reader(first).until('# ');
  const spare = await spareOf(box);
  const next = await terminals.open(handle, aTerminal('next', { shell }));
  await reader(next).until('# ');
  const files = (await sh(box, 'ls /tmp/facts-*')).split('\n');
  t.same(files.length, 2);
  t.ok(files.includes(`/tmp/facts-${spare}`), 'the second one was the spare');
  const [one, other] = await Promise.all(files.map((file) => sh(box, `cat ${file}`)));
  t.match(one, /rows 24; columns 80/);
  t.same(other, one);
  await Promise.all([first.close(), next.close()]);
}

async function withoutStty(t: Test, instance: TestInstance): Promise<void> {
  const { runtime, terminals, image } = instance;
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  await sh({ ...instance, handle }, 'mv "$(command -v stty)" /tmp/size-of');
  const pty = await terminals.open(handle, aTerminal('sized', { cols: 97, rows: 31 }));
  const output = reader(pty);
  pty.write('until [ "$(/tmp/size-of size)" = "31 97" ]; do sleep 0.05; done; echo right-$((1+1))\r');
  await output.until('right-2');
  t.equal(pty.muxSession, 'sized');
  await pty.close();
}

async function killed(t: Test, box: Box): Promise<void> {
  const { terminals, handle } = box;
  await spareOf(box);
  await sh(box, 'pkill -KILL -f "berth: [r]eady"');
  const next = await terminals.open(handle, aTerminal('after'));
  await reader(next).until('# ');
  await next.close();
  t.ok(await spareOf(box), 'there is a new one');
}

async function endsWhenRefused(t: Test, box: Box): Promise<void> {
  const { terminals, handle } = box;
  const spare = await spareOf(box);
  const startAfter = Promise.reject(new Error('not recorded'));
  await t.rejects(terminals.open(handle, aTerminal('never', { startAfter })), { message: 'not recorded' });
  const isThere = () => sh(box, `[ -e /proc/${spare} ] && echo there || echo gone`);
  // Well before its own limit.
  await waitFor(async () => (await isThere()) === 'gone', { patienceMs: 15_000, everyMs: CHECK_MS });
}

async function endsWhenItPrints(t: Test, box: Box): Promise<void> {
  const { terminals, handle } = box;
  const opened = await terminals.open(handle, aTerminal('watched'));
  const spare = await spareOf(box);
  await sh(box, `echo noise > /proc/${spare}/fd/0`);
  const isThere = () => sh(box, `[ -e /proc/${spare} ] && echo there || echo gone`);
  await waitFor(async () => (await isThere()) === 'gone', { patienceMs: 15_000, everyMs: CHECK_MS });
  t.equal(await isThere(), 'gone');
  await opened.close();
}

/** A spare that is paused in the moment in which it gets its line. */
async function late(t: Test, box: Box): Promise<void> {
  const { terminals, handle } = box;
  const first = await terminals.open(handle, aTerminal('late'));
  const spare = await spareOf(box);
  await sh(box, `kill -STOP ${spare}`);
  const next = await terminals.open(handle, aTerminal('late-too'));
  await reader(next).until('# ');
  t.equal(await sh(box, `[ -e /proc/${spare} ] && echo there || echo gone`), 'gone');
  await Promise.all([first.close(), next.close()]);
}

/** `sh` of Debian is dash, that of the other image BusyBox. */
async function endsWhenSilent(t: Test, docker: Docker, runtimeId: string): Promise<void> {
  const aSpare = async (limitSeconds: number) => {
    const command = ['sh', '-c', spareProgram(limitSeconds), 'berth', 'exit'];
    const options = { command, env: {}, tty: true, stdin: true };
    const { stream } = await openExec(engineCalls(docker), runtimeId, options);
    const limits = { seconds: 30 };
    const ready = await outputUntil(stream, limits, (tail) => tail.includes(SPARE_READY));
    t.ok(ready?.isEnough);
    return stream.resume();
  };
  const silent = await aSpare(1);
  await once(silent, 'close');
  const ended = await aSpare(25);
  ended.write('\n');
  ended.write(`${SPARE_END}\n`);
  const limit = AbortSignal.timeout(15_000);
  await once(ended, 'close', { signal: limit });
}
