/** A gigabyte towards a reader that stops reading. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Part } from './part.ts';

const SECONDS = 15;
const MIB = 1_048_576;
const WANTED_MIB = 8;

export const stopped: Part = async (scene) => {
  const box = await scene.box('stopped');
  // What the service's heap grows by once, for any flood, is not this reader's.
  const warm = await scene.open('berth', box);
  warm.write('head -c 200000000 /dev/zero | tr "\\0" y; echo warm-$((40+2))\r');
  await warm.until('warm-42');
  await warm.close();
  const line = await scene.open('berth', box);
  let received = 0;
  line.read((chunk) => {
    received += chunk.length;
  });
  await scene.service.memory();
  const before = residentBytes(scene.service.pid);
  line.stopReading();
  line.write('head -c 1000000000 /dev/zero | tr "\\0" z\r');
  let most = before;
  for (let second = 0; second < SECONDS * 10; second += 1) {
    await delay(100);
    most = Math.max(most, residentBytes(scene.service.pid));
  }
  await line.close();
  await scene.remove(box);
  const grown = (most - before) / MIB;
  return [
    {
      what: `1 GB towards a reader that stopped, for ${SECONDS} s: MiB that the service grows by`,
      bare: null,
      berth: grown.toFixed(1),
      ratio: null,
      wanted: `below ${WANTED_MIB}`,
      isMet: grown < WANTED_MIB && received < 10 * MIB,
    },
  ];
};

function residentBytes(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(found?.[1]) * 1_024;
}
