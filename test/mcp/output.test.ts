import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { readPart } from '../../src/mcp/output.ts';
import { eventually } from '../support/patience.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const CHUNKS = 64;
/** What the stream itself still has, and what is read last. */
const FEW = 8;

t.test('what is skipped of a stream, and what surrounds its bytes, is not kept', async (t) => {
  const made: WeakRef<ArrayBufferLike>[] = [];
  const kept = (): number => {
    collectGarbage();
    return made.filter((one) => one.deref() !== undefined).length;
  };
  let keptChunks = CHUNKS;
  const source = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (made.length === CHUNKS) {
          keptChunks = await eventually(kept, (count) => count <= FEW, { patienceMs: 10_000 });
          return controller.close();
        }
        const chunk = new Uint8Array(1_024).fill(made.length);
        made.push(new WeakRef(chunk.buffer));
        controller.enqueue(chunk.subarray(0, 1));
      },
    },
    { highWaterMark: 0 },
  );
  const { bytes, isWhole } = await readPart(source, CHUNKS - 2, 100);
  t.same([[...bytes], isWhole], [[CHUNKS - 2, CHUNKS - 1], true]);
  t.ok(keptChunks <= FEW, `${keptChunks} chunks are kept`);
});
