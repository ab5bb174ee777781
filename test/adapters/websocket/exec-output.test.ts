import t from 'tap';
import { ExecOutput, KEPT_BYTES } from '../../../src/adapters/websocket/exec/exec-output.ts';
import { ExecInput } from '../../../src/client/inside/exec-input.ts';
import { Queue } from '../../../src/client/queue.ts';

const STREAMS = ['stdout', 'stderr'] as const;
/** Far less than it takes when each piece moves all that follow. */
const AT_MOST_MS = 3_000;

/** All that can be sent, as one text in which stderr is in upper case. */
function sentOf(output: ExecOutput): string {
  const parts: string[] = [];
  for (let piece = output.take(); piece !== null; piece = output.take()) {
    const text = piece.data.toString();
    parts.push(piece.stream === 'stderr' ? text.toUpperCase() : text);
  }
  return parts.join('');
}

t.test('output keeps its order over both streams, within the room', async (t) => {
  for (const isKept of [true, false]) {
    const output = new ExecOutput(isKept);
    const added: string[] = [];
    for (let count = 0; count < 400; count += 1) {
      const text = String.fromCharCode(97 + (count % 26)).repeat(count * 5);
      const stream = STREAMS[Math.floor(count / 3) % 2] ?? 'stdout';
      output.add(stream, Buffer.from(text));
      added.push(stream === 'stderr' ? text.toUpperCase() : text);
    }
    const all = added.join('');
    t.equal(output.take(), null, 'without room, nothing');
    output.allow(100_001);
    t.ok(sentOf(output) === all.slice(0, 100_001));
    t.notOk(output.isSent);
    output.allow(all.length);
    t.ok(sentOf(output) === all.slice(100_001));
    t.ok(output.isSent);
    t.equal(output.resumeAt(100_000), isKept);
    t.equal(output.resumeAt(all.length + 1), false);
    if (!isKept) continue;
    output.allow(all.length);
    t.ok(sentOf(output) === all.slice(100_000), 'again, from what its client has');
    output.confirm(150_000);
    t.equal(output.resumeAt(149_999), false);
    t.ok(output.resumeAt(150_000));
  }
});

t.test('no more is sent than is kept', async (t) => {
  const output = new ExecOutput(true);
  output.add('stdout', Buffer.alloc(KEPT_BYTES + 10, 'x'));
  output.allow(KEPT_BYTES * 2);
  t.equal(sentOf(output).length, KEPT_BYTES);
  output.confirm(4);
  t.equal(sentOf(output).length, 4);
  output.confirm(KEPT_BYTES * 9);
  t.equal(sentOf(output).length, 6, 'what was never sent is not confirmed');
});

t.test('a million pieces of a byte cost no more than their bytes', async (t) => {
  const began = performance.now();
  const output = new ExecOutput(true);
  output.allow(KEPT_BYTES);
  const bytes = [Buffer.from('a'), Buffer.from('b')] as const;
  for (let count = 0; count < KEPT_BYTES / 2; count += 1) {
    output.add('stdout', bytes[0]);
    output.take();
    output.add('stderr', bytes[1]);
    output.take();
  }
  output.confirm(KEPT_BYTES);
  t.ok(performance.now() - began < AT_MOST_MS);
});

t.test('nor does input that its client has typed, or output that waits for its loop', async (t) => {
  const began = performance.now();
  const input = new ExecInput();
  for (let count = 0; count < 200_000; count += 1) input.sent(Uint8Array.of(count % 256));
  input.addRoom(0, 100_000);
  t.same(input.sendAgain(199_999), [Uint8Array.of(199_999 % 256)]);
  const queue = new Queue<number>();
  for (let count = 0; count < 300_000; count += 1) queue.push(count);
  queue.end();
  let sum = 0;
  for await (const value of queue) sum += value;
  t.equal(sum, (300_000 * 299_999) / 2);
  t.ok(performance.now() - began < AT_MOST_MS);
});
