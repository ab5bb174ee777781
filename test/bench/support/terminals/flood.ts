/** Opens terminals with heavy output, reads them, and reports the rate when asked to stop. */
import { randomUUID } from 'node:crypto';
import { type Line, serviceLine } from './scene.ts';

const [address = '', token = '', container = '', count = '0'] = process.argv.slice(2);
let bytes = 0;
const lines: Line[] = [];
for (let opened = 0; opened < Number(count); opened += 1) {
  const line = await serviceLine({ address, token }, container, `g${randomUUID()}`);
  line.write('echo here-$((40+2))\r');
  await line.until('here-42');
  line.read((chunk) => {
    bytes += chunk.length;
  });
  lines.push(line);
}
for (const line of lines) line.write('yes $(seq 20)\r');
bytes = 0;
const start = performance.now();
process.once('message', () => {
  const rate = bytes / 1e3 / (performance.now() - start);
  for (const line of lines) line.write('\u0003');
  void Promise.all(lines.map((line) => line.close())).then(() => process.send?.(rate));
});
process.once('disconnect', () => process.exit());
process.send?.('flooding');
