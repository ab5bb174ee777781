import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { setImmediate as immediate } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import {
  type InputForm,
  InputWriter,
  PLAIN_INPUT,
  TMUX_INPUT,
} from '../../../../src/adapters/scripts/terminals/input-writer.ts';
import { isKnownToTmux } from '../../../../src/adapters/scripts/terminals/tmux/tmux-characters.ts';
import { asTmuxKeys, incompleteInput } from '../../../../src/adapters/scripts/terminals/tmux/tmux-keys.ts';
import { CHOOSE_TMUX } from '../../../../src/adapters/scripts/terminals/tmux/tmux-volume-scripts.ts';
import { waitFor } from '../../../support/patience.ts';
import { standingTime } from '../../../support/time.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** What the program receives for these keys: without the prefix, otherwise unchanged. */
function handedOn(keys: Buffer): Buffer {
  const out: number[] = [];
  for (let at = 0; at < keys.length; at += 1) {
    if (keys[at] === 0xff) at += 1;
    out.push(keys[at] ?? -1);
  }
  return Buffer.from(out);
}

t.test('input reaches tmux unchanged or byte by byte', async (t) => {
  const cases: readonly [string, Buffer, string][] = [
    ['keys', latin1('ls -l\r\x03\x7f\x00'), 'ls -l\r\x03\x7f\x00'],
    ['characters', Buffer.from('ä漢😀'), Buffer.from('ä漢😀').toString('latin1')],
    ['half a character', bytes('c3'), '\xff\xc3'],
    ['the other half', bytes('a9'), '\xff\xa9'],
    ['no UTF-8', bytes('ff c0 80'), '\xff\xff\xff\xc0\xff\x80'],
    ['a character that tmux may not know', bytes('cd b8'), '\xff\xcd\xff\xb8'],
    ['a control character beyond ASCII', bytes('c2 85'), '\xff\xc2\xff\x85'],
    ['Escape', latin1('\x1b'), '\xff\x1b'],
    ['Alt and a key', latin1('\x1bx'), '\xff\x1bx'],
    ['Alt and [', latin1('\x1b['), '\xff\x1b['],
    ['an arrow', latin1('\x1b[A\x1bOB'), '\x1b[A\x1bOB'],
    ['Ctrl and an arrow', latin1('\x1b[1;5C'), '\x1b[1;5C'],
    ['Escape and an arrow', latin1('\x1b\x1b[A'), '\xff\x1b\x1b[A'],
    ['a function key', latin1('\x1b[15~'), '\x1b[15~'],
    ['the mouse', latin1('\x1b[<0;12;3M\x1b[<0;12;3m'), '\x1b[<0;12;3M\x1b[<0;12;3m'],
    ['the old mouse', latin1('\x1b[M !!'), '\xff\x1b[M !!'],
    ['the focus', latin1('\x1b[I\x1b[O'), '\x1b[I\x1b[O'],
    ['an answer to tmux', latin1('\x1b[?1;2c\x1b[>0;276;0c'), '\x1b[?1;2c\x1b[>0;276;0c'],
    ['the name of the terminal', latin1('\x1bP>|xterm.js(6.0.0)\x1b\\'), '\x1bP>|xterm.js(6.0.0)\x1b\\'],
    ['a colour', latin1('\x1b]11;rgb:00/00/00\x07'), '\x1b]11;rgb:00/00/00\x07'],
    ['the marks of a paste', latin1('\x1b[200~a\x1b[201~'), '\xff\x1b[200~a\xff\x1b[201~'],
    ['what tmux would wait after', latin1('\x1b[?25h'), '\xff\x1b[?25h'],
    ['text that never ends', latin1('\x1b]52;c;abc'), '\xff\x1b]52;c;abc'],
  ];
  for (const [name, input, keys] of cases) t.equal(asTmuxKeys(input).toString('latin1'), keys, name);
});

t.test('partial characters and sequences are held back', async (t) => {
  const cases: readonly [string, string][] = [
    ['', ''],
    ['abc', ''],
    ['a\xc3', '\xc3'],
    ['\xc3\xa9', ''],
    ['\xf0\x9f\x98', '\xf0\x9f\x98'],
    ['\xa9', ''],
    ['\xff', ''],
    ['\xe0\x80', ''],
    ['a\x1b', '\x1b'],
    ['\x1b[', '\x1b['],
    ['\x1b[1;5', '\x1b[1;5'],
    ['\x1b[A', ''],
    ['\x1bO', '\x1bO'],
    ['\x1bOA', ''],
    ['\x1bx', ''],
    ['\x1b]11;rgb', '\x1b]11;rgb'],
    ['\x1b]11;rgb\x07', ''],
    [`\x1b]${'x'.repeat(5_000)}`, ''],
  ];
  for (const [input, kept] of cases) {
    t.equal(incompleteInput(latin1(input)).toString('latin1'), kept, JSON.stringify(input.slice(0, 20)));
  }
});

t.test('no byte is changed, wherever input is cut', async () => {
  const input = fc.uint8Array({ maxLength: 60 });
  fc.assert(
    fc.property(input, fc.nat(60), (all, cut) => {
      const [before, after] = [Buffer.from(all).subarray(0, cut), Buffer.from(all).subarray(cut)];
      const keys = Buffer.concat([asTmuxKeys(before), asTmuxKeys(after)]);
      return handedOn(keys).equals(Buffer.from(all));
    }),
  );
});

t.test('every image knows the unescaped characters', async (t) => {
  for (const character of ['é', 'ж', '漢', '한', '😀'])
    t.ok(isKnownToTmux(character.codePointAt(0) ?? 0), character);
  for (const codePoint of [0x80, 0x9f, 0x378, 0xffff, 0x1fae9, 0x10ffff]) t.notOk(isKnownToTmux(codePoint));
});

/** Longer than any input is held back. */
const HELD_MS = 1_000;

/** Input to a stream that records it. */
function anInput(form: InputForm = TMUX_INPUT) {
  const got: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      got.push(chunk);
      done();
    },
  });
  return {
    input: new InputWriter(stream, form),
    stream,
    got: () => Buffer.concat(got),
    writes: () => got.length,
  };
}

t.test('complete input is sent at once, and a part waits for its rest', async (t) => {
  const { input, got, writes } = anInput();
  const done: string[] = [];
  input.write(Buffer.from('é'), () => done.push('é'));
  t.same(got(), Buffer.from('é'));
  input.write(bytes('61 e6 bc'), () => done.push('half'));
  t.same(got(), Buffer.from('éa'), 'all before it goes on');
  await waitFor(() => done.length > 0);
  t.same(done, ['é'], 'what is held back is not acknowledged');
  input.write(bytes('a2'), () => done.push('rest'));
  t.same(got(), Buffer.from('éa漢'));
  t.equal(writes(), 3);
  await waitFor(() => done.length > 2);
  t.same(done, ['é', 'half', 'rest']);
});

t.test('a part without a rest is sent after a while', async (t) => {
  const time = standingTime(t);
  for (const part of [bytes('c3'), latin1('\x1b'), latin1('\x1b[')]) {
    const { input, got } = anInput();
    let isDone = false;
    input.write(part, () => {
      isDone = true;
    });
    t.equal(got().length, 0);
    time.pass(HELD_MS);
    await waitFor(() => isDone);
    t.same(handedOn(got()), part);
    input.write(bytes('a9'), () => {});
    t.same(handedOn(got()), Buffer.concat([part, bytes('a9')]), 'and the rest is not lost when it is late');
  }
});

t.test('a plain shell gets whole characters, and all else unchanged', async (t) => {
  const time = standingTime(t);
  const { input, got } = anInput(PLAIN_INPUT);
  const acknowledged = new Promise<void>((resolve) => {
    input.write(bytes('1b ff 61 c3'), resolve);
  });
  t.same(got(), bytes('1b ff 61'));
  time.pass(HELD_MS);
  await acknowledged;
  t.same(got(), bytes('1b ff 61 c3'), 'half a character that stays alone comes as well');
  input.write(latin1('\x1b'), () => {});
  t.same(got(), bytes('1b ff 61 c3 1b'), 'and Escape at once');
});

t.test('each write is acknowledged once, when all of it is written', async (t) => {
  const time = standingTime(t);
  const { input, got } = anInput();
  const all = Buffer.from('aé漢😀\x1b[A\x1b'.repeat(40));
  let acknowledged = 0;
  for (let at = 0; at < all.length; at += 3) {
    const piece = all.subarray(at, at + 3);
    input.write(piece, () => {
      acknowledged += piece.length;
      t.ok(handedOn(got()).length >= acknowledged);
    });
    // Some pieces are passed on without their rest.
    if (at % 60 === 0) time.pass(HELD_MS);
    await immediate();
  }
  time.pass(HELD_MS);
  await waitFor(() => acknowledged === all.length);
  t.same(handedOn(got()), all);
});

t.test('held-back input is dropped with its stream', async (t) => {
  const time = standingTime(t);
  const { input, stream, got } = anInput();
  input.write(bytes('c3'), () => t.fail('nobody has it'));
  stream.destroy();
  await once(stream, 'close');
  time.pass(HELD_MS);
  t.equal(got().length, 0);
});

/** Whether the image's own tmux is used when it reports this version. No other is present. */
function isTaken(version: string): boolean {
  const script = `${version === '' ? 'PATH=' : `tmux() { echo '${version}'; }`}
${CHOOSE_TMUX}
choose_tmux && echo own || :`;
  return execFileSync('sh', ['-c', script]).toString() === 'own\n';
}

t.test('an image with a recent tmux uses its own', async (t) => {
  const cases: readonly [string, boolean][] = [
    ['', false],
    ['said nothing', true],
    ['tmux 1.8', false],
    ['tmux 2.8', false],
    ['tmux 3.0a', false],
    ['tmux 3.1', false],
    ['tmux 3.1c', false],
    ['tmux 3.2', true],
    ['tmux 3.3a', true],
    ['tmux 3.10', true],
    ['tmux 4.0', true],
    ['tmux next-3.7', true],
  ];
  for (const [version, taken] of cases) t.equal(isTaken(version), taken, version);
});
