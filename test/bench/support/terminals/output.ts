/** Bytes a second of a program with heavy output. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../load.ts';
import { usedMs } from '../processor-time.ts';
import {
  type Box,
  type Figure,
  type Line,
  type Part,
  type PartOptions,
  type Scene,
  SIDES,
  type Side,
} from './scene.ts';

const LINE = 'The quick brown fox jumps over the lazy dog, and the terminal shows it all.';
export const LINES = 1_000_000;
/** The program's output; the terminal adds a carriage return per line. */
export const OUTPUT_LINE_BYTES = LINE.length + 1;
/** Of one round. */
export const OUTPUT_BYTES = OUTPUT_LINE_BYTES * LINES;
const WARM_UP = 1;

type Round = { readonly seconds: number; readonly received: number };

export const throughput: Part = async (scene, options) => [
  await one(scene, options, 'plain shell'),
  await one(scene, options, 'inside tmux'),
];

async function one(scene: Scene, options: PartOptions, what: string): Promise<Figure> {
  const { rounds } = options;
  const bytes = OUTPUT_LINE_BYTES * options.lines;
  const tmux = what === 'inside tmux';
  const box = await scene.box(`out-${tmux}`, { tmux });
  const lines = { bare: await scene.open('bare', box), berth: await scene.open('berth', box) };
  await prepareOutput(lines.bare, options.lines);
  const usedBefore = usedMs(scene.service.pid);
  const all = await takeTurns(SIDES, lines, rounds);
  const used = (usedMs(scene.service.pid) - usedBefore) / 1000;
  await close(scene, box, lines);
  const received = all.berth.reduce((sum, round) => sum + round.received, 0) * (1 + WARM_UP / rounds);
  const ratio = rate(all.berth) / rate(all.bare);
  return {
    what: `${what}: a program's MB/s (${(used / (received / 1e9)).toFixed(1)} s of processor for each GB received)`,
    bare: spread(all.bare, bytes),
    berth: spread(all.berth, bytes),
    ratio,
    wanted: 'at least 0.9',
    isMet: ratio >= 0.9,
  };
}

/** Rounds of all sides, the first ones left out. Every second round goes backwards. */
export async function takeTurns<S extends string>(
  sides: readonly S[],
  lines: Readonly<Record<S, Line>>,
  rounds: number,
): Promise<Readonly<Record<S, readonly Round[]>>> {
  const all = Object.fromEntries(sides.map((side) => [side, [] as Round[]])) as Record<S, Round[]>;
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const measured = await runOutput(lines[side], round);
      if (round >= 0) all[side].push(measured);
    }
  }
  return all;
}

/** The median, in MB/s. */
export const rate = (rounds: readonly Round[], bytes = OUTPUT_BYTES): number =>
  median(rounds.map(({ seconds }) => bytes / seconds / 1e6));

/** Makes the file that `runOutput` prints. A shell's variable `OUT` may name another file. */
export async function prepareOutput(line: Line, lineCount = LINES): Promise<void> {
  line.write(`yes '${LINE}' | head -n ${lineCount} > "\${OUT:-/tmp/out}"; echo made-$((40+2))\r`);
  await line.until('made-42');
}

export async function runOutput(line: Line, round: number): Promise<Round> {
  const mark = Buffer.from(`done-${100 + round}`);
  let received = 0;
  let tail = Buffer.alloc(0);
  const done = Promise.withResolvers<void>();
  line.read((chunk) => {
    received += chunk.length;
    // Only the end is checked, so that it costs both sides nothing.
    tail = Buffer.concat([tail.subarray(-64), chunk.subarray(-4_096)]);
    if (tail.includes(mark)) done.resolve();
  });
  const start = performance.now();
  line.write(`cat "\${OUT:-/tmp/out}"; echo done-$((100+${round}))\r`);
  await done.promise;
  return { seconds: (performance.now() - start) / 1000, received };
}

export function spread(rounds: readonly Round[], bytes = OUTPUT_BYTES): string {
  const rates = rounds.map(({ seconds }) => bytes / seconds / 1e6);
  return `${median(rates).toFixed(1)} (${Math.min(...rates).toFixed(1)}–${Math.max(...rates).toFixed(1)})`;
}

async function close(scene: Scene, box: Box, lines: Record<Side, Line>): Promise<void> {
  await Promise.all(SIDES.map((side) => lines[side].close()));
  await scene.remove(box);
}

// A gigabyte to a reader that stops reading.

const SECONDS = 15;
const MIB = 1_048_576;
const WANTED_MIB = 8;

export const stopped: Part = async (scene) => {
  const box = await scene.box('stopped');
  // The heap's growth by a first flood is not this reader's.
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
