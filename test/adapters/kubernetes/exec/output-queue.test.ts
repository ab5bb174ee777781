import t from 'tap';
import { OutputQueue } from '../../../../src/adapters/kubernetes/exec/output-queue.ts';

const of = (byte: number, length: number): Buffer => Buffer.alloc(length, byte);

t.test('messages of a few KiB become reads of 64 KiB, with every byte in its place', (t) => {
  const queue = new OutputQueue();
  const sent: Buffer[] = [];
  for (let n = 0; n < 40; n += 1) {
    sent.push(of(n, 4_095));
    queue.add({ stream: 'stdout', data: of(n, 4_095) });
  }
  t.equal(queue.bytes, 40 * 4_095);
  const taken: Buffer[] = [];
  for (let piece = queue.take(); piece !== null; piece = queue.take()) taken.push(piece.data);
  t.same(
    taken.map(({ length }) => length),
    [65_536, 65_536, 40 * 4_095 - 2 * 65_536],
  );
  t.ok(Buffer.concat(taken).equals(Buffer.concat(sent)));
  t.equal(queue.bytes, 0);
  t.end();
});

t.test('the two outputs stay apart, and in their order', (t) => {
  const queue = new OutputQueue();
  for (const [stream, text] of [
    ['stdout', 'a'],
    ['stdout', 'b'],
    ['stderr', 'c'],
    ['stdout', 'd'],
  ] as const)
    queue.add({ stream, data: Buffer.from(text) });
  const taken = [queue.take(), queue.take(), queue.take(), queue.take()];
  t.same(
    taken.map((piece) => piece && `${piece.stream} ${piece.data}`),
    ['stdout ab', 'stderr c', 'stdout d', null],
  );
  t.end();
});
