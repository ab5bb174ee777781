import type { Duplex } from 'node:stream';
import t from 'tap';
import { KeptOutput } from '../../../../src/adapters/docker/exec/bounded-output.ts';
import { execIn, printedBy } from '../../../../src/adapters/docker/exec/exec.ts';
import { frameReader } from '../../../../src/adapters/docker/exec/stream-demux.ts';
import { frame, printingEngine } from '../../../support/engine/printing-engine.ts';

const COUNT = 100_000;
const singles = Buffer.concat(Array.from({ length: COUNT }, (_, n) => frame((n % 2) + 1, 'x')));

/** As `singles` arrives when the loop was busy: what one read of the socket takes is up to its reader. */
function inOneChunk(calls: Awaited<ReturnType<typeof printingEngine>>): void {
  const { modem } = calls.docker;
  const dial = modem.dial.bind(modem);
  modem.dial = (options, done) =>
    dial(options, (error, answer) => {
      const stream = answer as Duplex | undefined;
      if (stream?.pipe !== undefined) joined(stream);
      done?.(error, answer);
    });
}

function joined(stream: Duplex): void {
  const emit = stream.emit.bind(stream);
  const chunks: Buffer[] = [];
  stream.emit = (name: string | symbol, ...args: unknown[]) => {
    if (name === 'data') return chunks.push(args[0] as Buffer) > 0;
    if (name === 'end') emit('data', Buffer.concat(chunks));
    return emit(name, ...args);
  };
}

t.test('a hundred thousand frames in one chunk are read in a loop', async (t) => {
  const count = { stdout: 0, stderr: 0 };
  for (const { stream, data } of frameReader()(singles)) count[stream] += data.length;
  t.same(count, { stdout: COUNT / 2, stderr: COUNT / 2 });
});

t.test('a command may print single bytes', async (t) => {
  const calls = await printingEngine(t, singles);
  inOneChunk(calls);
  const request = { command: ['true'], timeoutSeconds: 60, maxOutputBytes: 60_000 };
  const { exitCode, stdout, stderr, truncated } = await execIn(calls, 'any', request);
  t.same([exitCode, stdout.length, stderr.length, truncated], [0, COUNT / 2, COUNT / 2, false]);
  t.equal((await printedBy(calls, 'any', 'true', [], 1000)).length, 1000, 'also one of our own programs');
});

t.test('output is kept up to its limit and copied', async (t) => {
  const kept = new KeptOutput(10_000);
  const chunk = Buffer.alloc(1 << 20, 'x');
  kept.add(chunk.subarray(0, 9_999));
  t.notOk(kept.isCut);
  kept.add(chunk.subarray(0, 1));
  t.notOk(kept.isCut);
  kept.add(chunk.subarray(0, 1));
  t.ok(kept.isCut);
  t.equal(kept.bytes().length, 10_000);
  t.not(kept.bytes().buffer, chunk.buffer);
  t.equal(new KeptOutput(0).bytes().length, 0);
});
