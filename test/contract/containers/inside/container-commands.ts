import { PassThrough } from 'node:stream';
import type { Test } from 'tap';
import { collectOutput, type OutputLimits } from '../../../../src/app/containers/inside/command-output.ts';
import type {
  CommandRequest,
  ControlledCommand,
  RunningCommand,
  TimedCommand,
} from '../../../../src/ports/containers/inside/container-commands.ts';
import { waitFor } from '../../../support/patience.ts';

type Open = (request: CommandRequest) => Promise<ControlledCommand>;

export type Collected = {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null | undefined;
};

/** All output of a command. There is exactly one exit, the last event. */
export async function collect(
  { events }: RunningCommand,
  hasWritten: () => void = () => {},
): Promise<Collected> {
  const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let exitCode: number | null | undefined;
  for await (const event of events) {
    if (exitCode !== undefined) throw new Error('something came after the exit');
    if (event.kind === 'output') {
      output[event.stream].push(event.data);
      hasWritten();
    } else exitCode = event.exitCode;
  }
  return {
    stdout: Buffer.concat(output.stdout).toString(),
    stderr: Buffer.concat(output.stderr).toString(),
    exitCode,
  };
}

const ask = <More extends Partial<CommandRequest>>(
  command: readonly string[],
  more?: More,
): TimedCommand & More => ({
  command,
  timeoutSeconds: 20,
  ...(more as More),
});

/** Not every engine says when a size is set. */
const NEW_SIZE = 'stty size; read line; until [ "$(stty size)" = "40 120" ]; do sleep 0.05; done; stty size';

/** Guarantees of running commands, on any machine. */
export async function anyCommandContract(t: Test, open: Open): Promise<void> {
  const run = async (command: readonly string[], more?: Partial<CommandRequest>) =>
    await collect(await open(ask(command, more)));

  await t.test('output and exit code arrive as the command gives them', async (t) => {
    t.same(await run(['echo', 'one', '$HOME; two']), { stdout: 'one $HOME; two\n', stderr: '', exitCode: 0 });
    t.same(await run(['true']), { stdout: '', stderr: '', exitCode: 0 });
    t.same(await run(['false']), { stdout: '', stderr: '', exitCode: 1 });
    t.match(await run(['cat', '/absent']), { stdout: '', stderr: /No such file/, exitCode: 1 });
    t.match(await run(['cat'], { stdin: Buffer.from('grüße\n') }), { stdout: 'grüße\n', exitCode: 0 });
  });

  await t.test('a command that is not there is answered as a shell would', async (t) => {
    const answer = { stdout: '', stderr: /\bno-such-command: (command )?not found\n$/, exitCode: 127 };
    t.match(await run(['no-such-command']), answer);
  });

  await t.test('a command ends at its time limit, without an exit code', async (t) => {
    t.match(await run(['sleep', '3600'], { timeoutSeconds: 0.5 }), { exitCode: null });
  });

  await t.test('who goes away ends the command and its events', async (t) => {
    const running = await open(ask(['sleep', '3600'], { timeoutSeconds: 3600 }));
    const collected = collect(running);
    await Promise.all([running.end(), running.end()]);
    const { stdout, exitCode } = await collected;
    t.equal(stdout, '');
    t.not(exitCode, 0);
    await running.end();
  });

  await t.test('input may come while the command runs, and its end does not end the command', async (t) => {
    const stdin = new PassThrough();
    const collected = open(ask(['cat'], { stdin, timeoutSeconds: null })).then(collect);
    stdin.write('first ');
    stdin.end('last\n');
    t.same(await collected, { stdout: 'first last\n', stderr: '', exitCode: 0 });
  });

  await t.test('output comes while the input is open', async (t) => {
    const stdin = new PassThrough();
    let isSeen = false;
    const seen = (): void => {
      isSeen = true;
    };
    const collected = open(ask(['cat'], { stdin, timeoutSeconds: null })).then((one) => collect(one, seen));
    stdin.write('asked');
    await waitFor(() => isSeen, { what: 'the answer' });
    stdin.end();
    t.match(await collected, { stdout: 'asked', exitCode: 0 });
  });

  await t.test('a signal reaches the command', async (t) => {
    const running = await open(ask(['sleep', '3600'], { timeoutSeconds: null }));
    const collected = collect(running);
    await running.signal('TERM');
    t.not((await collected).exitCode, 0);
    await running.signal('TERM');
  });

  await t.test('a terminal has the requested size, and a new one after a resize', async (t) => {
    const stdin = new PassThrough();
    const terminal = { term: 'xterm', cols: 90, rows: 20 };
    let isSeen = false;
    const seen = (): void => {
      isSeen = true;
    };
    const running = await open(ask(['sh', '-c', NEW_SIZE], { stdin, terminal }));
    const collected = collect(running, seen);
    await waitFor(() => isSeen, { what: 'the first size' });
    await running.resize(120, 40);
    stdin.write('\n');
    t.match(await collected, { stdout: /\b20 90\b[\s\S]*\b40 120\b/, stderr: '', exitCode: 0 });
  });

  await t.test('output is kept up to a limit', (t) => keptOutput(t, open));
}

/** The same in a container named `box` made with GIVEN. */
export async function commandsContract(t: Test, open: Open): Promise<void> {
  const run = async (command: readonly string[], more?: Partial<CommandRequest>) =>
    await collect(await open(ask(command, more)));
  await anyCommandContract(t, open);

  await t.test('a command has the name, folder and variables of its container and its own', async (t) => {
    t.match(await run(['hostname']), { stdout: /^box(\.|\n)/ }, 'as a prompt shows it, up to the first dot');
    t.match(await run(['pwd']), { stdout: '/workspace\n' });
    t.match(await run(['pwd'], { workdir: '/tmp' }), { stdout: '/tmp\n' });
    t.match(await run(['printenv', 'HOME']), { stdout: '/workspace\n' });
    t.match(await run(['printenv', 'GIVEN']), { stdout: 'at creation\n' });
    t.match(await run(['printenv', 'GIVEN'], { env: { GIVEN: 'at exec' } }), { stdout: 'at exec\n' });
  });
}

async function keptOutput(t: Test, open: Open): Promise<void> {
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256));
  const echo = async (more: Partial<TimedCommand & OutputLimits> = {}) => {
    const request = { ...ask(['cat']), stdin: bytes, maxOutputBytes: 100_000, ...more };
    return await collectOutput(await open(request), request);
  };
  const full = await echo();
  t.ok(full.stdout.equals(bytes), 'stdin and stdout keep every byte');
  t.match(full, { exitCode: 0, truncated: false });
  const exact = await echo({ maxOutputBytes: bytes.length });
  t.ok(!exact.truncated && exact.stdout.equals(bytes), 'output up to the limit is whole, and said to be');
  const cut = await echo({ maxOutputBytes: 1000 });
  t.ok(cut.truncated && cut.stdout.equals(bytes.subarray(0, 1000)), 'above it is cut, and said to be');

  const asked: (() => void)[] = [];
  const room = {
    freeBytes: 100,
    unwanted: new AbortController().signal,
    more: () => new Promise<void>((resolve) => asked.push(resolve)),
  };
  t.match(await echo({ stdin: Buffer.from('small'), room }), { truncated: false });
  t.same(asked, [], 'little output needs no permission');
  const waiting = echo({ room });
  await waitFor(() => asked.length > 0);
  asked[0]?.();
  t.ok((await waiting).stdout.equals(bytes), 'much output is read once it may be kept');
  const never = await echo({ timeoutSeconds: 0.5, room });
  t.match(never, { exitCode: null, truncated: true }, 'without permission it is cut at the time limit');
  t.ok(never.stdout.length <= room.freeBytes);
}
