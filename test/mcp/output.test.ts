import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { readPart } from '../../src/mcp/output.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MIB = 1_048_576;
const CHUNKS = 64;

t.test('what is skipped of a stream, and what surrounds its bytes, is not kept', async (t) => {
  let made = 0;
  let keptBytes = Number.POSITIVE_INFINITY;
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  const source = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (made < CHUNKS) return controller.enqueue(new Uint8Array(MIB).fill(made++).subarray(0, 1));
        collectGarbage();
        keptBytes = process.memoryUsage().arrayBuffers - before;
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const { bytes, isWhole } = await readPart(source, CHUNKS - 2, 100);
  t.same([[...bytes], isWhole], [[CHUNKS - 2, CHUNKS - 1], true]);
  t.ok(keptBytes < 8 * MIB, `${keptBytes} bytes are kept`);
});
