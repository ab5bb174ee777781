import fc from 'fast-check';
import t from 'tap';
import { outputBuffer } from '../../../src/app/terminals/output/output-buffer.ts';

/** Everything buffered from an offset on, piece by piece. */
function readAll(log: ReturnType<typeof outputBuffer>, from: number, maxBytes: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = from; at < log.end(); at += pieces.at(-1)?.length ?? 0) {
    const piece = log.read(at, maxBytes);
    if (piece.length === 0 || piece.length > maxBytes) throw new Error(`a piece of ${piece.length} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

t.test('the buffer returns its contents, from any offset and in any pieces', async (t) => {
  const size = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 9_000 }));
  const holds = () =>
    fc.assert(
      fc.property(
        fc.array(size, { maxLength: 60 }),
        fc.nat(),
        fc.integer({ min: 1, max: 70_000 }),
        (sizes, where, max) => {
          const log = outputBuffer(20_000);
          const all: Buffer[] = [];
          for (const bytes of sizes) {
            const chunk = Buffer.from(Array.from({ length: bytes }, (_, at) => (at * 7 + all.length) % 256));
            all.push(chunk);
            log.append(chunk);
          }
          const full = Buffer.concat(all);
          const kept = full.length - log.start();
          if (log.end() !== full.length || kept < Math.min(full.length, 20_000)) return false;
          const from = log.start() + (kept === 0 ? 0 : where % kept);
          return readAll(log, from, max).equals(full.subarray(from));
        },
      ),
    );
  t.doesNotThrow(holds);
});

t.test('old output is dropped, whatever the size of the chunks', async (t) => {
  for (const bytes of [1, 100, 5_000, 70_000]) {
    const log = outputBuffer(200_000);
    for (let sum = 0; sum < 600_000; sum += bytes) log.append(Buffer.alloc(bytes, 1));
    const kept = log.end() - log.start();
    t.ok(kept >= 200_000 && kept < 200_000 + 70_000, `${kept} bytes of chunks of ${bytes}`);
    t.equal(log.read(0, 10).length, 0, 'what is gone is not read');
    t.equal(log.read(log.end(), 10).length, 0, 'nor what is still to come');
  }
});

t.test('a quiet terminal costs little memory', async (t) => {
  const logs = Array.from({ length: 500 }, () => outputBuffer(2_097_152));
  const before = process.memoryUsage().arrayBuffers;
  for (const log of logs) for (let keys = 0; keys < 700; keys += 1) log.append(Buffer.from('a'));
  const each = (process.memoryUsage().arrayBuffers - before) / logs.length;
  t.ok(each < 2_048, `${each} bytes for 700`);
  t.equal(logs[0]?.end(), 700);
});
