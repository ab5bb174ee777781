import { once } from 'node:events';
import type { IBuffer } from '@xterm/headless';
import t, { type Test } from 'tap';
import { dockerTerminals } from '../../../../src/adapters/docker/container-access.ts';
import {
  asScrollback,
  endOf,
  snapshotOf,
} from '../../../../src/adapters/scripts/terminals/tmux/tmux-history.ts';
import { terminalEnds } from '../../../../src/app/terminals/cleanup/terminal-ends.ts';
import { CLOSE, type CloseReason } from '../../../../src/domain/terminals/terminal.ts';
import type { StreamEnd } from '../../../../src/domain/terminals/terminal-end.ts';
import type { RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import type { PtyStream, ScrollbackSnapshot } from '../../../../src/ports/terminals/terminal-backend.ts';
import { snapshotOutput } from '../../../../web/src/terminal/screen/snapshot-output.ts';
import { aTerminal, reader } from '../../../contract/terminals/terminal-backend.ts';
import { aSpec, runIn } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { eventually, standsStill } from '../../../support/patience.ts';
import { aBrowserTerminal } from '../../../support/terminal/recordings.ts';

const NUMBERS = Array.from({ length: 1000 }, (_, at) => `row-${at + 1}`);

/** The numbered rows that are missing. */
const missing = (output: string): readonly string[] => {
  const rows = new Set(output.split(/[\r\n]+/));
  return NUMBERS.filter((row) => !rows.has(row)).slice(0, -24);
};

const textAt = (buffer: IBuffer, row: number): string | undefined =>
  buffer.getLine(row)?.translateToString(true);

t.test("tmux's history and screen are parsed", async (t) => {
  const snapshot = (printed: string, maxBytes?: number) => snapshotOf(Buffer.from(printed), maxBytes);
  t.same(snapshot('full_screen\n'), { program: 'full_screen' });
  for (const broken of ['', '\n', 'shell', 'shell 80 24\nx\n', 'no server running\n'])
    t.same(snapshot(broken), { program: 'shell', snapshot: null }, broken);
  const figures = { cols: 80, rows: 2, historyRows: 1, cursorX: 3, cursorY: 0 };
  const complete = { program: 'shell', snapshot: { ...figures, text: 'ä\nb\n' } };
  t.same(snapshot('shell 80 2 1 3 0\nä\nb\n\n'), complete, 'the last row is empty');
  const cut = { program: 'shell', snapshot: { ...figures, text: 'b\nc' } };
  t.same(snapshot('shell 80 2 1 3 0\nrest\nb\nc\n', 8), cut, 'without the rest of a line');
  const last = (lines: string, maxJsonBytes: number): unknown => {
    const found = snapshotOf(Buffer.from(`shell 80 2 1 3 0\n${lines}\n`), 1000, maxJsonBytes);
    return found.program === 'shell' && found.snapshot?.text;
  };
  const colours = '\u001b[1mold\n\u001b[2mnew';
  t.equal(last(colours, 14 + 12), colours);
  t.equal(last(colours, 14 + 11), '\u001b[2mnew', 'the oldest lines go first');
  t.equal(last(colours, 11), '');
  t.equal(last('\n\nx', 5), '\n\nx', 'empty lines are lines');
  t.equal(last('\n\nx', 4), '\nx');
});

t.test(
  'a history fills the scrollback with exactly its own lines, whatever the number of rows',
  async (t) => {
    for (const rows of [1, 2, 10, 47])
      for (const count of [1, 3, 9, 10, 11, 30, 200]) {
        const lines = Array.from({ length: count }, (_, at) => (at % 5 === 4 ? '' : `line ${at}`));
        const { terminal, write } = aBrowserTerminal({ cols: 80, rows });
        await write('what was on the screen before\r\n');
        await write(asScrollback(Buffer.from(`${lines.join('\n')}\n`), rows));
        const { baseY } = terminal.buffer.active;
        const scrollback = Array.from({ length: baseY }, (_, at) => textAt(terminal.buffer.active, at));
        t.same(scrollback, lines, `${count} lines, ${rows} rows`);
      }
  },
);

t.test("a shell's end is parsed", async (t) => {
  const lost = { kind: 'lost' } as const;
  const cases: readonly [string, StreamEnd][] = [
    ['over 0\n', { kind: 'exited', code: 0 }],
    ['over 137\n', { kind: 'exited', code: 137 }],
    ['over \n', { kind: 'exited', code: null }],
    ['on\n', lost],
    ['over 13', lost],
    ['', lost],
  ];
  for (const [printed, end] of cases) t.same(endOf(printed), end, printed);
});

async function history(t: Test, { terminals }: TestInstance, handle: RuntimeHandle): Promise<void> {
  const pty = await terminals.open(handle, aTerminal('past'));
  const output = reader(pty);
  await output.until('# ');
  pty.write('seq -f row-%g 1000; echo all-$((1+1))\r');
  await output.until('all-2');
  t.not(missing(output.all()).length, 0, 'tmux draws no more than the newest of it');
  const found = await pty.requestScrollback();
  t.equal(found.program, 'shell');
  if (found.program === 'shell') t.same(missing(found.snapshot?.text ?? ''), []);
  await pty.redraw();
  await output.until(/row-990[\s\S]*all-2/);

  const again = await terminals.open(handle, aTerminal('past'));
  const shown = reader(again);
  await shown.until(/row-1\r\n[\s\S]*all-2/);
  t.same(missing(shown.all()), [], 'it is there after a reload as well');
  again.write('less /etc/bash.bashrc\r');
  await shown.until('bash.bashrc\u001b');
  t.same(
    await again.requestScrollback(),
    { program: 'full_screen' },
    'a program that has the screen keeps it',
  );
}

/** The lines of a terminal of this size after a snapshot, and the rows above its screen. */
async function linesOf({ cols, rows, text, cursorX, cursorY }: ScrollbackSnapshot) {
  const { terminal, write } = aBrowserTerminal({ cols, rows }, 10_000);
  await write(snapshotOutput({ text, cursor_x: cursorX, cursor_y: cursorY }));
  const { active } = terminal.buffer;
  const lines: string[] = [];
  for (let row = 0; row < active.length; row += 1) {
    const line = textAt(active, row) ?? '';
    if (active.getLine(row)?.isWrapped) lines.push(lines.pop() + line);
    else lines.push(line);
  }
  return { lines, above: active.baseY };
}

async function snapshots(t: Test, { terminals }: TestInstance, handle: RuntimeHandle): Promise<void> {
  const pty = await terminals.open(handle, aTerminal('written'));
  const output = reader(pty);
  await output.until('# ');
  const long = 'x'.repeat(100);
  const some = `for i in $(seq 600); do echo n-$i-${long}; [ $((i % 20)) = 0 ] && sleep 0.1; done`;
  pty.stream.write(`${some}; echo all-$((1+1))\r`);
  let last = 0;
  for (let checks = 0; last < 600; checks += 1) {
    if (checks > 500) throw new Error(`it has not gone beyond ${last}`);
    await pty.resize(60 + ((checks * 37) % 90), 10 + ((checks * 13) % 40));
    const found = await pty.requestScrollback();
    if (found.program !== 'shell' || found.snapshot === null) throw new Error('there is no snapshot');
    const { lines, above } = await linesOf(found.snapshot);
    t.equal(above, found.snapshot.historyRows);
    const first = lines.indexOf(`n-1-${long}`);
    const own = lines.slice(first, lines.findLastIndex((line) => line.startsWith('n-')) + 1);
    last = first < 0 ? 0 : own.length;
    const written = Array.from({ length: last }, (_, at) => `n-${at + 1}-${long}`);
    // The last line may be incomplete.
    t.same(own.slice(0, -1), written.slice(0, -1), `${last} lines`);
  }
  await pty.close();
}

/** Each setting costs the server work for every client. */
async function settings(
  t: Test,
  { commands, terminals }: TestInstance,
  handle: RuntimeHandle,
): Promise<void> {
  const tmux = async (...args: readonly string[]) => {
    const { stdout } = await runIn(commands, handle, ['tmux', '-S', '/run/berth-tmux', ...args]);
    return stdout.toString();
  };
  const attach = async (): Promise<void> => {
    const pty = await terminals.open(handle, aTerminal('settings'));
    await reader(pty).until('# ');
    await pty.close();
  };
  const escapeKey = () => tmux('show-options', '-sv', 'user-keys[27]');
  await attach();
  const learnt = await escapeKey();
  t.match(learnt, '\x1b');
  await tmux('set-option', '-s', 'user-keys[27]', 'marker');
  await tmux('bind-key', '-n', 'F12', 'send-keys', 'x');
  await attach();
  t.equal(await escapeKey(), 'marker\n', 'a second attach sets nothing');
  t.match(await tmux('list-keys', '-T', 'root'), 'F12', 'and binds nothing');
  await tmux('set-option', '-s', '@berth_settings', 'of an earlier version');
  await attach();
  t.equal(await escapeKey(), learnt, 'a server with earlier settings learns them');
  t.notMatch(await tmux('list-keys', '-T', 'root'), 'F12');
}

async function exitCodes(t: Test, { terminals }: TestInstance, handle: RuntimeHandle): Promise<void> {
  for (const [typed, code] of [
    ['exit 7', 7],
    ['true; exit', 0],
    ['kill -9 $$', 137],
  ] as const) {
    const pty = await terminals.open(handle, aTerminal('leaving'));
    const output = reader(pty);
    await output.until('# ');
    pty.write(`${typed}\r`);
    await ended(pty, output);
    t.same(await pty.ending(), { kind: 'exited', code }, typed);
  }
  const killed = await terminals.open(handle, aTerminal('leaving'));
  const last = reader(killed);
  await last.until('# ');
  await terminals.killMuxSession(handle, 'leaving');
  await ended(killed, last);
  t.same(await killed.ending(), { kind: 'exited', code: null }, 'one that was ended has none');
}

async function ended({ stream }: PtyStream, output: { all(): string }): Promise<void> {
  if (stream.closed) return;
  await once(stream, 'close', { signal: AbortSignal.timeout(20_000) }).catch((error: unknown) => {
    throw new Error(`the terminal goes on: ${JSON.stringify(output.all()).slice(-200)}`, { cause: error });
  });
}

/** Less to fill than the limit of a container, and enough for the engine's own threads. */
const FEW_PROCESSES = 128;

/** Ends when only its own process fits. */
const FILL = "sh -c 'while :; do sleep 1000 & done'";

/** Like a kernel that refuses what tmux's clients hand to their server. */
const REFUSED = `printf '#!/bin/sh\necho server exited unexpectedly >&2\nexit 1\n' > /usr/local/bin/tmux
chmod 755 /usr/local/bin/tmux`;

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  const { docker, runtime, terminals, image } = instance;
  const handle = await runtime.create(aSpec(image));
  const { runtimeId } = handle;
  const refused = (t: Test, isGone: boolean) =>
    t.rejects(terminals.open(handle, aTerminal('main')), { name: 'ContainerNotRunning', isGone });

  await t.test('a stopped container has no terminals', async (t) => {
    await refused(t, false);
    await t.resolves(terminals.killMuxSession(handle, 'main'));
  });
  await runtime.start(handle);
  await t.test('all scrolled lines are sent, however fast they were', (t) => history(t, instance, handle));
  await t.test('a snapshot has each line once, while a program writes and the size changes', (t) =>
    snapshots(t, instance, handle),
  );
  await t.test('a tmux server gets its settings once, and again when they change', (t) =>
    settings(t, instance, handle),
  );
  await t.test("the exit code is the shell's, while other sessions run on", (t) =>
    exitCodes(t, instance, handle),
  );
  await t.test('an unreachable tmux is reported as unknown', (t) => unreachable(t, instance, handle));
  await t.test('a container without a free process is reported as such', (t) => full(t, instance, handle));
  await t.test('a stopping container does not report its programs as ended', async (t) => {
    const box = docker.getContainer(runtimeId);
    await endsAs(t, instance, handle, 'stopped by Berth', () => runtime.stop(handle, 5));
    await endsAs(t, instance, handle, 'killed', () => box.kill());
    await endsAs(t, instance, handle, 'stopped', () => box.stop({ t: 10 }));
    await endsAs(t, instance, handle, 'removed', () => box.remove({ force: true }));
    await refused(t, true);
    await t.resolves(terminals.killMuxSession(handle, 'main'));
  });
}

/** The close reason after `work`, while the row says that the container runs. */
async function endsAs(
  t: Test,
  instance: TestInstance,
  handle: RuntimeHandle,
  name: string,
  work: () => Promise<unknown>,
): Promise<void> {
  await instance.runtime.start(handle);
  const pty = await instance.terminals.open(handle, aTerminal('main'));
  await reader(pty).until('# ');
  await work();
  t.equal(await reasonOf(instance, handle, await pty.ending()), CLOSE.containerStopped, name);
  await t.resolves(pty.close());
}

function reasonOf(
  { runtime }: TestInstance,
  handle: RuntimeHandle,
  end: Parameters<ReturnType<typeof terminalEnds>['afterEnd']>[1],
): Promise<CloseReason> {
  const { runtimeId } = handle;
  const row = { dbId: 'row', state: 'running', runtimeId, operation: null } as const;
  const ends = terminalEnds({ runtime, records: { containerStatuses: async () => [row] } });
  return ends.afterEnd({ dbId: 'row', handle, participation: null }, end, 60_000);
}

async function unreachable(t: Test, instance: TestInstance, handle: RuntimeHandle): Promise<void> {
  const { commands, terminals } = instance;
  const exec = (script: string) => runIn(commands, handle, ['sh', '-c', script]);
  const open = await terminals.open(handle, aTerminal('main'));
  await reader(open).until('# ');
  t.match(await exec(REFUSED), { exitCode: 0 });
  const other = await terminals.open(handle, aTerminal('other'));
  t.match(other, { muxSession: null, isFallback: true }, 'a plain shell where tmux does not start');
  const plain = reader(other);
  other.write('echo plain-$((1+1)); exit 3\r');
  await plain.until('plain-2');
  t.same(await other.ending(), { kind: 'exited', code: 3 });
  const shared = aTerminal('other', { sharedAs: { mode: 'view' } });
  await t.rejects(terminals.open(handle, shared), { name: 'TerminalNotStarted', fault: 'other' }, 'to share');
  await exec('pkill -f source-file');
  const end = await open.ending();
  t.same(end, { kind: 'lost' }, 'what tmux does not say is not taken for an end');
  t.equal(await reasonOf(instance, handle, end), CLOSE.detached);
  await exec('rm /usr/local/bin/tmux');
  const again = await terminals.open(handle, aTerminal('main'));
  await reader(again).until('# ');
  await again.close();
}

async function full(
  t: Test,
  { docker, commands, terminals }: TestInstance,
  handle: RuntimeHandle,
): Promise<void> {
  await docker.getContainer(handle.runtimeId).update({ PidsLimit: FEW_PROCESSES });
  const first = await terminals.open(handle, aTerminal('first'));
  const output = reader(first);
  await output.until('# ');
  const processes = ['sh', '-c', 'ls -d /proc/[0-9]* | wc -l'];
  // Until all spares wait: a process that starts takes more of the container's processes for a moment.
  await standsStill(async () => Number((await runIn(commands, handle, processes)).stdout));
  first.stream.write(`${FILL}\r`);
  await output.until('Cannot fork', 60);
  const noProcesses = { name: 'TerminalNotStarted', fault: 'no_processes' };
  const withoutSpares = dockerTerminals(docker);
  for (const session of ['first', 'second']) {
    const opening = withoutSpares.open(handle, aTerminal(session)).then((pty) => pty.close());
    await t.rejects(opening, noProcesses, session);
  }
  const refusal = () =>
    terminals.open(handle, aTerminal('third')).then(
      () => null,
      (error: unknown) => error,
    );
  t.match(await eventually(refusal, Boolean), noProcesses, 'also when no spare is left');
  // Not the first program, which keeps the container alive.
  first.stream.write('pkill -f "sleep 100[0]"; echo free-$((1+1))\r');
  await output.until('free-2', 60);
  const opening = () => terminals.open(handle, aTerminal('second')).catch(() => null);
  const second = await eventually(opening, Boolean, { patienceMs: 60_000, everyMs: 200 });
  t.ok(second, 'it opens when there is room');
  await second?.close();
  t.match(await runIn(commands, handle, ['true']), { exitCode: 0 });
}
