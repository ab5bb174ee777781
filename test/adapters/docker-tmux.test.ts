import { once } from 'node:events';
import type { IBuffer } from '@xterm/headless';
import t, { type Test } from 'tap';
import { asScrollback, endOf, lookBackOf } from '../../src/adapters/docker/tmux-history.ts';
import type { StreamEnd } from '../../src/domain/terminal-end.ts';
import type { RuntimeHandle } from '../../src/ports/container-runtime.ts';
import type { PtyStream } from '../../src/ports/terminal-backend.ts';
import { aTerminal, reader } from '../contract/terminal-backend.ts';
import { aSpec } from '../support/container-spec.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine.ts';
import { aBrowserTerminal } from '../support/screens.ts';

const NUMBERS = Array.from({ length: 1000 }, (_, at) => `row-${at + 1}`);

/** The numbered rows that are missing. */
const missing = (output: string): readonly string[] => {
  const rows = new Set(output.split(/[\r\n]+/));
  return NUMBERS.filter((row) => !rows.has(row)).slice(0, -24);
};

const textAt = (buffer: IBuffer, row: number): string | undefined =>
  buffer.getLine(row)?.translateToString(true);

t.setTimeout(120_000);
t.test('what tmux prints of its history', async (t) => {
  t.same(lookBackOf(Buffer.from('1\n')), { fullScreen: true, lines: Buffer.alloc(0) });
  t.same(lookBackOf(Buffer.from('0\nä\nb\n')), { fullScreen: false, lines: Buffer.from('ä\nb\n') });
  t.same(lookBackOf(Buffer.alloc(0)), { fullScreen: false, lines: Buffer.alloc(0) });
});

t.test(
  'a history fills the scrollback with its own lines and no other, however many rows there are',
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

t.test('how a shell ended', async (t) => {
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

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  const handle = await instance.runtime.create(aSpec(instance.image));
  await instance.runtime.start(handle);
  await t.test('all that scrolled by is sent, however fast it was', (t) => history(t, instance, handle));
  await t.test('the exit code is that of the shell, while other sessions go on', (t) =>
    exitCodes(t, instance, handle),
  );
}

async function history(t: Test, { terminals }: TestInstance, handle: RuntimeHandle): Promise<void> {
  const pty = await terminals.open(handle, aTerminal('past'));
  const output = reader(pty);
  await output.until('# ');
  pty.write('seq -f row-%g 1000; echo all-$((1+1))\r');
  await output.until('all-2');
  t.not(missing(output.all()).length, 0, 'tmux draws no more than the newest of it');
  const before = output.all().length;
  t.equal(await pty.lookBack(), 'shell');
  await output.until(/\]7711;history[\s\S]*all-2/);
  t.same(missing(output.all().slice(before)), []);
  await pty.drawAnew();
  await output.until(/row-990[\s\S]*all-2/);

  const again = await terminals.open(handle, aTerminal('past'));
  const shown = reader(again);
  await shown.until(/\]7711;history[\s\S]*all-2/);
  t.same(missing(shown.all()), [], 'it is there after a reload as well');
  again.write('less /etc/bash.bashrc\r');
  await shown.until('bash.bashrc\u001b');
  t.equal(await again.lookBack(), 'full_screen', 'a program that has the screen keeps it');
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
