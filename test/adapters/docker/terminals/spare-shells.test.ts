import { once } from 'node:events';
import t, { type Test } from 'tap';
import { engineCalls } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { openExec } from '../../../../src/adapters/docker/exec/exec-stream.ts';
import {
  SPARE_END,
  SPARE_READY,
  spareLine,
  spareProgram,
} from '../../../../src/adapters/docker/terminals/spare-scripts.ts';
import { outputUntil } from '../../../../src/adapters/docker/terminals/terminal-start.ts';
import type { RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import type { PtyStream } from '../../../../src/ports/terminals/terminal-backend.ts';
import { aTerminal, reader } from '../../../contract/terminals/terminal-backend.ts';
import { aSpec, runIn } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { eventually, waitFor } from '../../../support/patience.ts';

/** Each check runs a program in the container. */
const CHECK_MS = 50;

type Box = TestInstance & { readonly handle: RuntimeHandle };

t.test('a line has only arguments that a shell reads back as they are', async (t) => {
  t.equal(spareLine('mark', ['berth', '80', '/bin/bash']), 'mark berth 80 /bin/bash\n');
  for (const argument of ['', 'a b', 'a\nb', 'ä', '\x04']) t.equal(spareLine('mark', [argument]), null);
});

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  const handle = await instance.runtime.create(aSpec(instance.image));
  await instance.runtime.start(handle);
  const box: Box = { ...instance, handle };
  await t.test('the next terminal opens in a spare, and is like any other', (t) => nextOne(t, box));
  await t.test('a spare that has ended costs nothing but time', (t) => killed(t, box));
  await t.test('a spare ends when its terminal must not start', (t) => unwanted(t, box));
  await t.test('a spare ends when its service is silent, or says so', (t) => silent(t, box));
}

async function sh({ commands, handle }: Box, script: string): Promise<string> {
  return (await runIn(commands, handle, ['sh', '-c', script])).stdout.toString().trim();
}

/** The waiting spare's process number. */
async function spareOf(box: Box): Promise<string> {
  const pid = () => sh(box, 'pgrep -fo "berth: [r]eady"');
  return await eventually(pid, (found) => /^\d+$/.test(found), { everyMs: CHECK_MS });
}

async function nextOne(t: Test, box: Box): Promise<void> {
  const { terminals, handle } = box;
  const first = await terminals.open(handle, aTerminal('first'));
  const spare = await spareOf(box);
  const next = await terminals.open(handle, aTerminal('next', { cols: 100, rows: 30 }));
  t.match(await sh(box, `cat /proc/${spare}/comm`), /^tmux/, 'it has become the terminal');
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
  const clients = (await sh(box, 'pgrep -x "tmux: client"')).split('\n');
  const [one, other] = await Promise.all(clients.map(environ));
  t.same(other, one);
  await Promise.all([first.close(), next.close()]);
  t.notOk((await terminals.leftovers(handle)).marks.length > 0, 'nothing of them is left');
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

async function unwanted(t: Test, box: Box): Promise<void> {
  const { terminals, handle } = box;
  const spare = await spareOf(box);
  const startAfter = Promise.reject(new Error('not recorded'));
  await t.rejects(terminals.open(handle, aTerminal('never', { startAfter })), { message: 'not recorded' });
  const isThere = () => sh(box, `[ -e /proc/${spare} ] && echo there || echo gone`);
  await waitFor(async () => (await isThere()) === 'gone', { everyMs: CHECK_MS });
}

async function silent(t: Test, { docker, handle: { runtimeId } }: Box): Promise<void> {
  const aSpare = async (silentSeconds: number) => {
    const command = ['sh', '-c', spareProgram(silentSeconds), 'berth', 'exit'];
    const options = { command, env: {}, tty: true, stdin: true };
    const { stream } = await openExec(engineCalls(docker), runtimeId, options);
    await outputUntil(stream, 30, (tail) => tail.includes(SPARE_READY));
    return stream.resume();
  };
  await once(await aSpare(0.5), 'close');
  const told = await aSpare(25);
  told.write('\n');
  told.write(`${SPARE_END}\n`);
  await once(told, 'close');
  t.pass('both have ended');
}
