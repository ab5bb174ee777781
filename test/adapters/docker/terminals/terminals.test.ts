import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import type { RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import type { PtyStream } from '../../../../src/ports/terminals/terminal-backend.ts';
import { aTerminal, reader, terminalBackendContract } from '../../../contract/terminals/terminal-backend.ts';
import { aSpec, runIn } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { eventually, standsStill, waitFor, waitForValue } from '../../../support/patience.ts';

/** Each check runs a program in the container, which loads the engine. */
const POLL_MS = 100;

type Box = TestInstance & { readonly handle: RuntimeHandle };

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  const box: Box = { ...instance, handle: await started(instance) };
  await terminalBackendContract('docker', box);
  await t.test('docker: inside tmux', (t) => insideTmux(t, box));
  await t.test('docker: shared terminals', (t) => shared(t, box));
  await t.test('docker: ends of shells, sessions and containers are told apart', (t) => ends(t, box));
  await t.test('docker: an image without tmux', async (t) =>
    plainShell(t, { ...box, handle: await started(instance) }),
  );
  await t.test('docker: leftovers are listed completely, however many there are', (t) =>
    manyLeftovers(t, box),
  );
}

async function started({ runtime, image }: TestInstance): Promise<RuntimeHandle> {
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  return handle;
}

async function sh({ commands, handle }: Box, script: string): Promise<string> {
  return (await runIn(commands, handle, ['sh', '-c', script])).stdout.toString().trim();
}

async function ended(pty: PtyStream): Promise<void> {
  if (!pty.stream.closed) await once(pty.stream, 'close');
}

async function insideTmux(t: Test, box: Box): Promise<void> {
  const pty = await box.terminals.open(box.handle, aTerminal('look', { cols: 97, rows: 31 }));
  const output = reader(pty);
  await output.until('# ');
  pty.write('stty size; pwd; echo "$HOME $TERM $COLORTERM $LANG [$TMUX] [$BERTH_TERM]"; shopt login_shell\r');
  const first = await output.until(/login_shell\s+\S*on\W/);
  t.match(first, /31 97/, 'the program has every cell, from the first prompt on');
  t.match(first, /\/workspace tmux-256color truecolor C\.UTF-8 \[\] \[\]/);
  await pty.resize(120, 40);
  pty.write('clear; until [ "$(stty size)" = "40 120" ]; do sleep 0.05; done; echo "now $(stty size)"\r');
  await output.until('now 40 120');
  pty.write("printf '%s|' 'ä漢😀é'\r");
  await output.until('ä漢😀é|');
  pty.write('printf "\\033[38;2;1;2;3mcolour"\r');
  await output.until('\u001b[38;2;1;2;3mcolour');
  pty.write('echo ready; cat -v\r');
  await output.until(/ready;[\s\S]*ready\W/);
  pty.write('\u0002c\u0002d\u0002:\u0001d\r');
  // The echo, and the program's own: an interrupt reaches only a program that runs.
  await output.until(/\^Bc\^Bd\^B:\^Ad[\s\S]*\^Bc\^Bd\^B:\^Ad/);
  t.notOk(output.all().includes('\u001b[?1049h'), 'the outer screen keeps its scrollback');
  pty.write('\u0003');
  await output.until('# ');
  await scrolls(pty, output);
  const jump = '\u001b\\[\\d+S';
  t.notMatch(output.all(), new RegExp(jump), 'lines leave the screen into the scrollback, not into nothing');
  await box.terminals.killMuxSession(box.handle, 'look');
  await ended(pty);
}

/** Line by line, of which each is seen before the next: tmux skips lines that come faster than it draws. Then many at once. */
async function scrolls(pty: PtyStream, output: ReturnType<typeof reader>): Promise<void> {
  pty.write('echo begun-$((1+1)); while read -r n; do echo line-$n; done\r');
  await output.until('begun-2');
  for (let line = 1; line <= 80; line += 1) {
    pty.write(`${line}\r`);
    await output.until(new RegExp(`line-${line}\\D`));
  }
  pty.write('\u0004');
  await output.until('# ');
  pty.write('seq 1 $((4999+1))\r');
  await output.until(/\D5000\D/);
}

async function shared(t: Test, box: Box): Promise<void> {
  const { terminals, handle } = box;
  const sessions = (): Promise<string> =>
    sh(box, 'tmux -S /run/berth-tmux list-sessions -F "#{session_name}"');
  const owner = await terminals.open(handle, aTerminal('theirs', { cols: 100, rows: 30 }));
  const shown = reader(owner);
  await shown.until('# ');
  const small = { cols: 40, rows: 10 };
  const sharedAs = { mode: 'control', session: 'user-3' } as const;
  const guest = await terminals.open(handle, aTerminal('theirs', { ...small, sharedAs }));
  const onlooker = await terminals.open(
    handle,
    aTerminal('theirs', { ...small, sharedAs: { mode: 'view' } }),
  );
  for (const one of [guest, onlooker]) one.stream.resume();
  // They have been drawn, so their sizes count.
  guest.write('clear; stty size\r');
  await shown.until('30 100');
  t.match(await sessions(), /^theirs$/m, 'the size is the one of the owner');
  t.match(await sessions(), /^user-3$/m);
  onlooker.write('\u0003\u0004exit\r');
  guest.write('sleep 7009 &\r');
  await shown.until(/\[1\] \d+/);
  await terminals.killMuxSession(handle, 'user-3');
  await ended(guest);
  t.notMatch(await sessions(), /user-3/, 'the session of the guest is gone');
  t.equal(await sh(box, 'pgrep -fc "^sleep 7009"'), '1', 'what was begun in the terminal goes on');
  await terminals.killMuxSession(handle, 'theirs');
  await Promise.all([ended(owner), ended(onlooker)]);
  t.equal(await sh(box, 'pgrep -fc "^sleep 7009"'), '0');
}

async function ends(t: Test, box: Box): Promise<void> {
  const { terminals, handle } = box;
  const count = (): Promise<string> => sh(box, 'ls -d /proc/[0-9]* | wc -l');
  const before = await terminals.open(handle, aTerminal('cycle'));
  await reader(before).until('# ');
  await before.close();
  const processes = await count();
  const requests = Array.from({ length: 6 }, () => aTerminal('cycle'));
  for (const [round, request] of requests.entries()) {
    const pty = await terminals.open(handle, request);
    if (round % 2 === 0) pty.stream.resume();
    await pty.close();
  }
  const markers = requests.map(({ marker }) => `-e ${marker}`).join(' ');
  t.equal(await sh(box, `grep -lsF ${markers} /proc/[0-9]*/environ | wc -l`), '0');
  const left = await eventually(count, (now) => now === processes, { everyMs: POLL_MS });
  t.equal(left, processes, 'closed terminals leave no process, and their session lives');

  const pty = await terminals.open(handle, aTerminal('cycle'));
  const output = reader(pty);
  await output.until('# ');
  pty.write(
    'nohup sleep 7001 >/dev/null & (setsid sleep 7002 &) ; bash -c "trap : HUP TERM; sleep 7003; sleep 7004"\r',
  );
  const sleeps = async (): Promise<number> => Number(await sh(box, 'pgrep -c sleep'));
  await waitFor(async () => (await sleeps()) >= 4, { what: 'all four are there', everyMs: POLL_MS });
  await terminals.killMuxSession(handle, 'cycle');
  await ended(pty);
  t.equal(
    await sh(box, 'pgrep -fa "sleep 700[1-9]" | grep -v pgrep | cut -d" " -f2-'),
    'sleep 7002',
    'all but a daemon end',
  );

  const lost = await terminals.open(handle, aTerminal('lost'));
  await reader(lost).until('# ');
  lost.stream.destroy();
  t.same(await lost.ending(), { kind: 'lost' }, 'a cut connection is not the end of the program');
  await lost.close();
}

async function plainShell(t: Test, box: Box): Promise<void> {
  const { terminals, handle } = box;
  await sh(box, 'rm /usr/bin/tmux');
  const pty = await terminals.open(handle, aTerminal('main', { cols: 71, rows: 17 }));
  t.equal(pty.muxSession, null);
  t.equal(await terminals.hasMultiplexer(handle), false);
  await t.rejects(terminals.open(handle, aTerminal('main', { sharedAs: { mode: 'view' } })), /tmux/);
  const output = reader(pty);
  await output.until('# ');
  pty.write("sh -c 'echo runs-$((1+1)); exec cat > /dev/null'\r");
  await output.until('runs-2\r\n');
  pty.write('\u0010');
  await output.until('^P');
  pty.write('\u0010\u0011\u0003');
  await output.until('# ');
  pty.write('stty size; pwd; echo "$TERM [$BERTH_TERM]"; exit 3\r');
  t.match(await output.until('[marker-main'), /17 71\r\n\/workspace\r\nxterm-256color/);
  await ended(pty);
  t.same(await pty.ending(), { kind: 'exited', code: 3 });

  const slow = await terminals.open(handle, aTerminal('main'));
  const seen = reader(slow);
  await seen.until('# ');
  slow.write('while :; do printf "%065536d" 0; echo >> /tmp/n; done\r');
  await seen.until('0'.repeat(65_536));
  slow.stream.pause();
  const written = async (): Promise<number> => Number(await sh(box, 'wc -l < /tmp/n'));
  const stopped = await standsStill(written);
  t.ok(stopped * 65_536 < 64 * 1_048_576, 'a reader that pauses stops the program');
  slow.stream.resume();
  await waitFor(async () => (await written()) > stopped, {
    what: 'the program to continue',
    everyMs: POLL_MS,
  });
  await slow.close();
  const left = await sh(box, 'ps -eo tty=,args= | grep ^pts | grep -v "berth: ready"');
  t.equal(left, '', 'the whole tree ends with its terminal');
  await t.resolves(terminals.killMuxSession(handle, 'main'));

  const marker = randomUUID();
  const stubborn = await terminals.open(handle, aTerminal('main', { marker }));
  const said = reader(stubborn);
  await said.until('# ');
  stubborn.write('trap "" HUP TERM; (trap "" HUP TERM; setsid sleep 7005) & echo on-$((6*7))\r');
  await said.until('on-42');
  t.same(await terminals.leftovers(handle), { sessions: [], marks: [marker] });
  await terminals.endMarked(handle, marker);
  t.same(await terminals.leftovers(handle), { sessions: [], marks: [] }, 'also what does not want to');
  t.equal(await sh(box, 'pgrep -fx "sleep 7005" | wc -l'), '0', 'and what has left its parent');
  await ended(stubborn);
}

/** One program with many markers costs as much as many programs with one. */
async function manyLeftovers(t: Test, { terminals, commands, handle }: Box): Promise<void> {
  const marks = Array.from({ length: 5_000 }, () => randomUUID());
  const env = Object.fromEntries(marks.map((mark, at) => [`M${at}`, `BERTH_TERM=${mark}`]));
  const going = runIn(commands, handle, ['sleep', '7006'], { env });
  let seen: ReadonlySet<string> = new Set();
  await waitForValue(
    async () => {
      seen = new Set((await terminals.leftovers(handle)).marks);
    },
    () => seen.size >= marks.length,
    { everyMs: POLL_MS },
  );
  t.same(
    marks.filter((mark) => !seen.has(mark)),
    [],
  );
  await terminals.endMarked(handle, marks.at(-1) ?? '');
  await going;
  const left = new Set((await terminals.leftovers(handle)).marks);
  t.notOk(marks.some((mark) => left.has(mark)));
}
