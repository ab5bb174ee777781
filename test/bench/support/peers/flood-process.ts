/** Opens one terminal of a peer and reads its heavy output: `begin` and `pause` are its commands. */
import { setTimeout as delay } from 'node:timers/promises';
import { promptOf } from '../terminals/scene.ts';
import { connect, type Way } from './lines.ts';

const RISE_MS = 1_000;
const way = JSON.parse(process.argv[2] ?? '') as Way;
const line = await promptOf(await connect(way, 'flood', () => undefined));
let pauses = 0;

process.on('message', (what) => {
  void (what === 'begin' ? begin() : pause()).then(() => {
    if (process.connected) process.send?.('done');
  });
});
process.once('disconnect', () => void line.close().finally(() => process.exit()));
process.send?.('ready');

async function begin(): Promise<void> {
  const flows = Promise.withResolvers<void>();
  line.read(() => flows.resolve());
  line.write('yes $(seq 20)\r');
  await flows.promise;
  await delay(RISE_MS);
}

async function pause(): Promise<void> {
  line.write('\u0003');
  pauses += 1;
  // The line discipline discards input with the interrupt.
  await delay(200);
  line.write(`echo paused-$((${pauses}+100))\r`);
  await line.until(`paused-${pauses + 100}`);
  line.read(() => undefined);
}
