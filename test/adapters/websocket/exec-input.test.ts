import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { ExecInput } from '../../../src/adapters/websocket/exec/exec-input.ts';
import { JoinedBytes } from '../../../src/adapters/websocket/joined-bytes.ts';

/** Input whose client has the whole window. */
function anInput() {
  const given: number[] = [];
  const input = new ExecInput((bytes) => given.push(bytes));
  input.begin();
  return { input, given: () => given.reduce((sum, bytes) => sum + bytes, 0) };
}

t.test('frames that a program does not take are joined, and empty ones dropped', async (t) => {
  for (const bytes of [0, 1]) {
    const { input } = anInput();
    const { write } = input.stream;
    const writes = t.capture(input.stream, 'write', write.bind(input.stream) as typeof write);
    input.take(Buffer.alloc(140_000));
    for (let count = 0; count < 50_000; count += 1) input.take(Buffer.alloc(bytes));
    await turn();
    t.equal(writes().length, 1, 'the first waits for the program, and the others for it');
    input.end();
    t.equal((await text(input.stream)).length, 140_000 + 50_000 * bytes);
    t.ok(writes().length < 10);
  }
});

t.test('small and large frames arrive in order, and all of their room is given again', async (t) => {
  const { input, given } = anInput();
  const sent: string[] = [];
  const got = text(input.stream);
  for (let count = 0; count < 3_000; count += 1) {
    const piece = String.fromCharCode(97 + (count % 26)).repeat(count % 50 === 0 ? 5_000 : count % 3);
    for (;;) {
      if (input.take(Buffer.from(piece))) break;
      await turn();
    }
    sent.push(piece);
  }
  input.end();
  input.take(Buffer.from('late'));
  t.equal(await got, sent.join(''));
  t.ok(given() > sent.join('').length);
});

t.test('joined bytes are those that were added', async (t) => {
  const joined = new JoinedBytes();
  const sizes = [0, 1, 4_095, 4_096, 1, 5_000, ...Array.from({ length: 40 }, () => 1_000)];
  const all = sizes.map((size, at) => Buffer.alloc(size, at));
  for (const piece of all) joined.add(piece);
  const pieces: Buffer[] = [];
  for (let next = joined.next(); next !== null; next = joined.next()) pieces.push(next);
  t.ok(Buffer.concat(pieces).equals(Buffer.concat(all)));
  t.ok(pieces.length < 10, 'in few pieces');
  t.equal(joined.next(), null);
});
