import fc from 'fast-check';
import t from 'tap';
import { JoinedOutput } from '../../src/domain/joined-output.ts';

type Added = { readonly stream: 1 | 2; readonly data: Buffer };

function* all(output: JoinedOutput<1 | 2>): Generator<Added> {
  for (let piece = output.take(); piece !== null; piece = output.take()) yield piece;
}

/** Joined as far as one stream goes on. */
function inRuns(pieces: Iterable<Added>): string[] {
  const runs: { readonly stream: number; readonly parts: Buffer[] }[] = [];
  for (const { stream, data } of pieces) {
    if (data.length === 0) continue;
    if (runs.at(-1)?.stream !== stream) runs.push({ stream, parts: [] });
    runs.at(-1)?.parts.push(data);
  }
  return runs.map(({ stream, parts }) => `${stream} ${Buffer.concat(parts).toString('latin1')}`);
}

t.test('all is read in the order in which it came, whenever it is read', (t) => {
  const step = fc.record({
    stream: fc.constantFrom(1 as const, 2 as const),
    size: fc.oneof(fc.nat(5), fc.constantFrom(4_095, 65_535, 65_536, 70_000)),
    isRead: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const output = new JoinedOutput<1 | 2>();
      const added: Added[] = [];
      const taken: Added[] = [];
      const sum = (pieces: readonly Added[]): number =>
        pieces.reduce((bytes, { data }) => bytes + data.length, 0);
      for (const [at, { stream, size, isRead }] of steps.entries()) {
        const data = Buffer.alloc(size, at);
        added.push({ stream, data: Buffer.from(data) });
        output.add(stream, data);
        // The sender's buffer is its own.
        data.fill(255);
        const piece = isRead ? output.take() : null;
        if (piece !== null) taken.push(piece);
        t.equal(output.bytes, sum(added) - sum(taken));
      }
      taken.push(...all(output));
      t.strictSame(inRuns(taken), inRuns(added));
      t.ok(taken.every(({ data }) => data.length > 0 && data.length <= 65_536));
    }),
    { numRuns: 50 },
  );
  t.end();
});

t.test('outputs that alternate unread take a bounded number of pieces, each in its order', (t) => {
  const output = new JoinedOutput<1 | 2>();
  const sent: Added[] = Array.from({ length: 100_000 }, (_, at) => ({
    stream: at % 2 === 0 ? 1 : 2,
    data: Buffer.of(at / 2),
  }));
  for (const { stream, data } of sent) output.add(stream, data);
  const taken = [...all(output)];
  t.ok(taken.length <= 1_100, `${taken.length} pieces`);
  const of = (pieces: readonly Added[], stream: number): Buffer =>
    Buffer.concat(pieces.filter((piece) => piece.stream === stream).map(({ data }) => data));
  for (const stream of [1, 2]) t.ok(of(taken, stream).equals(of(sent, stream)));
  t.strictSame(inRuns(taken.slice(0, 1_000)), inRuns(sent.slice(0, 1_000)), 'also between them at first');
  t.end();
});

t.test('pieces of a few KiB become reads of 64 KiB', (t) => {
  const output = new JoinedOutput<1 | 2>();
  for (let count = 0; count < 40; count += 1) output.add(1, Buffer.alloc(4_095, count));
  t.same(
    [...all(output)].map(({ data }) => data.length),
    [65_536, 65_536, 40 * 4_095 - 2 * 65_536],
  );
  t.end();
});
