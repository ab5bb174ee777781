import t from 'tap';
import { outputQueue } from '../../web/src/terminal/connection/output-queue.ts';
import { atSequenceEnd, effectsOf } from '../../web/src/terminal/output-effects.ts';
import { OutputGate } from '../../web/src/terminal/output-gate.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (given: Uint8Array): string => Buffer.from(given).toString();

/** A gate, and all that the terminal behind it has drawn. */
function aGate(muxed = true) {
  let drawn = '';
  const write = (data: Uint8Array, done: () => void): void => {
    drawn += text(data);
    done();
  };
  const gate = new OutputGate(outputQueue({ write, flooded: () => {}, drained: () => {} }));
  gate.connected(muxed, false);
  const take = (): string => {
    const all = drawn;
    drawn = '';
    return all;
  };
  return { push: (output: string) => gate.push(bytes(output)), gate, take };
}

t.test('of output that is not drawn remains what does something else', async (t) => {
  const kept = [
    ['a title', '\x1b]0;ä\x07'],
    ['the clipboard', '\x1b]52;c;YQ==\x1b\\'],
    ['modes', '\x1b[?1006;1000h\x1b[?2004l\x1b[?25l'],
    ['the pen', '\x1b[m\x1b[38;2;1;2;3m\x1b(B'],
    ['the keypad and the cursor', '\x1b=\x1b>\x1b[4 q'],
    ['questions', '\x1b[c\x1b[>c\x1b[6n\x1b[>q'],
    ['the bell', '\x07'],
  ] as const;
  for (const [what, output] of kept) t.equal(text(effectsOf(bytes(output))), output, what);
  const drawn = [
    ['text and line feeds', 'ä\r\n\n$ '],
    ['moves and erases', '\x1b[H\x1b[2J\x1b[K\x1b[3;4H\x1bM'],
    ['the scroll region', '\x1b[1;24r'],
    ['synchronized output', '\x1b[?2026h\x1b[?2026l'],
    ['hyperlinks', '\x1b]8;;http://x\x07'],
    ['what is in strings', '\x1bP\x07[?25h\x1b\\'],
  ] as const;
  for (const [what, output] of drawn) t.equal(text(effectsOf(bytes(output))), '', what);
});

t.test('a sequence that is not complete is kept apart', async (t) => {
  for (const [whole, open] of [
    ['a', ''],
    ['a\x1b[31m', ''],
    ['a', '\x1b'],
    ['a', '\x1b[3'],
    ['a\x1b[31mb', '\x1b]0;title'],
    ['a\x1b]0;title\x1b\\', ''],
  ] as const) {
    const [is, rest] = atSequenceEnd(bytes(whole + open));
    t.same([text(is), text(rest)], [whole, open]);
  }
});

t.test('frozen output draws the picture alone, and loses no title that was cut in two', async (t) => {
  const { push, gate, take } = aGate();
  push('a\x1b]0;ti');
  gate.freeze(bytes('picture'));
  t.equal(take(), 'apicture');
  push('tle\x07b\r\n');
  t.equal(take(), '\x1b]0;title\x07');
  gate.hold();
  push('c\x1b[1m');
  t.equal(take(), '');
  gate.goLive(true);
  push('d');
  t.equal(take(), 'c\x1b[1md');
});

t.test('what was held gives way to another picture', async (t) => {
  const { push, gate, take } = aGate();
  gate.freeze(bytes('first'));
  gate.hold();
  push('a\x07');
  gate.freeze(bytes('second'));
  t.equal(take(), 'first\x07second');
});

t.test('a new connection draws, and what was held is gone', async (t) => {
  const { push, gate, take } = aGate();
  gate.freeze(bytes('picture'));
  gate.hold();
  push('old');
  gate.connected(true, false);
  push('new');
  t.equal(take(), 'picturenew');
});

t.test('without a multiplexer output goes through as it comes', async (t) => {
  const { push, take } = aGate(false);
  push('a\x1b');
  t.equal(take(), 'a\x1b');
});

t.test('output since the last picture is drawn when the multiplexer does not draw the screen', async (t) => {
  const { push, gate, take } = aGate();
  gate.freeze();
  push('old');
  gate.freeze(bytes('picture'));
  push('build ');
  push('FAILED\r\n');
  gate.hold();
  push('$ ');
  take();
  gate.goLive(false);
  t.equal(take(), 'build FAILED\r\n$ ');
  gate.goLive(false);
  t.equal(take(), '', 'once');
});

t.test('what the multiplexer or a new stream draws is not drawn twice', async (t) => {
  const { push, gate, take } = aGate();
  gate.freeze(bytes('picture'));
  push('a');
  gate.goLive(true);
  gate.goLive(false);
  gate.freeze();
  push('b');
  gate.connected(true, false);
  gate.goLive(false);
  t.equal(take(), 'picture');
});

t.test('what went through is not repeated, and colours are kept', async (t) => {
  const { push, gate, take } = aGate();
  gate.freeze();
  push('\x1b]0;ä\x07\x1b]52;c;YQ==\x1b\\\x07\x1b[c\x1b[31mä\x1b]8;;http://x\x07\x1b[m');
  take();
  gate.goLive(false);
  t.equal(take(), '\x1b[31mä\x1b]8;;http://x\x07\x1b[m');
});

t.test('of much output that was not drawn the newest is drawn', async (t) => {
  const { push, gate, take } = aGate();
  gate.freeze();
  for (let at = 0; at < 20; at += 1) push(`${at}:${'x'.repeat(100_000)}`);
  gate.goLive(false);
  const drawn = take();
  t.ok(drawn.length <= 1_048_576);
  t.match(drawn, /^10:x+11:.*19:x+$/s);
});

t.test('the screen that tmux erases at its end stays above what it says then', async (t) => {
  const erase = '\x1b[H\x1b[2J';
  const modes = '\x1b[?12l\x1b[?25h';
  for (const isHeld of [false, true]) {
    const { push, gate, take } = aGate();
    gate.freeze();
    push(`${erase}a\r\nbuild FAILED\r\n`);
    if (isHeld) gate.hold();
    push(`\x1b[1;24r${erase}${modes}[exited]\r\n`);
    take();
    gate.goLive(false);
    const kept = `${erase}a\r\nbuild FAILED\r\n\x1b[1;24r\x1b[9999H\r\n${modes}[exited]\r\n`;
    t.equal(take(), kept, isHeld ? 'held' : 'frozen');
  }
});
