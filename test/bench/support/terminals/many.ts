/** A hundred typists beside twenty programs with heavy output. */
import { quantile } from '../load.ts';
import { startProgram } from '../servers.ts';
import { answerKeys, type } from './echo.ts';
import type { Box, Figure, Line, Part, Scene } from './scene.ts';

const GREEDY = 20;
const TYPING = 100;
const KEYS = 50;
/** In the second in which the floods begin and fill their pipes. */
const FIRST_KEYS = 5;
const PAUSE_MS = 200;
const AT_ONCE = 8;

export const fair: Part = async (scene) => {
  const [greedy, typing] = [await scene.box('greedy'), await scene.box('typing', { memoryMb: 1_024 })];
  const open = async (): Promise<Awaited<ReturnType<Scene['open']>>> => {
    const line = await scene.open('berth', typing);
    await answerKeys(line);
    return line;
  };
  const lines = await inGroups(TYPING, open);
  const typeAll = async (keys: number): Promise<number[]> => {
    const ms = await Promise.all(lines.map((line) => type(line, keys, PAUSE_MS)));
    return ms.flat();
  };
  const alone = await typeAll(KEYS);
  const endFlood = await startFlood(scene, greedy);
  const first = await typeAll(FIRST_KEYS);
  const beside = await typeAll(KEYS);
  const megabytes = await endFlood();
  await Promise.all(lines.map((line) => line.close()));
  await Promise.all([scene.remove(greedy), scene.remove(typing)]);
  const text = (ms: readonly number[]): string =>
    `p50 ${quantile(ms, 0.5).toFixed(1)}, p99 ${quantile(ms, 0.99).toFixed(1)}`;
  const p99 = quantile(beside, 0.99);
  const received = (what: string, ms: readonly number[]): Figure => ({
    what: `${TYPING} type ${what}: echo ms`,
    bare: null,
    berth: text(ms),
    ratio: null,
    wanted: '',
    isMet: true,
  });
  return [
    received('without a flood', alone),
    received(`in the second in which ${GREEDY} greedy ones begin`, first),
    {
      what: `${TYPING} type beside ${GREEDY} greedy ones (${megabytes.toFixed(0)} MB/s together): echo ms`,
      bare: null,
      berth: text(beside),
      ratio: null,
      wanted: 'p99 below 100 ms',
      isMet: p99 < 100,
    },
  ];
};

/** The floods' readers are another process: its work must not count as waiting. Ends with their MB/s. */
async function startFlood({ at }: Scene, { dbId }: Box): Promise<() => Promise<number>> {
  const { ask, stop } = await startProgram('terminals/flood.ts', [at.address, at.token, dbId, `${GREEDY}`]);
  return async () => await ask<number>('stop').finally(stop);
}

/** Makes this many, a few at a time. */
async function inGroups<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < count) {
    const group = Math.min(AT_ONCE, count - made.length);
    made.push(...(await Promise.all(Array.from({ length: group }, make))));
  }
  return made;
}

// The cost of an idle terminal.

/** The process limit of a container. */
const PER_BOX = 200;
const KIB = 1_024;
const WANTED_KIB = 32;

export const idle: Part = async (scene, { idle: count }) => {
  const boxes: Box[] = [];
  for (let at = 0; at < count; at += PER_BOX) boxes.push(await scene.box(`idle-${at}`, { memoryMb: 1_024 }));
  const lines: Line[] = [];
  // The first ones make shared things: connections to the database, compiled code.
  const fill = async (box: Box, upTo: number): Promise<void> => {
    lines.push(...(await inGroups(upTo, () => scene.open('berth', box))));
  };
  const [first] = boxes;
  if (first === undefined) return [];
  const warm = await inGroups(8, () => scene.open('berth', first));
  await Promise.all(warm.map((line) => line.close()));
  const before = await scene.service.memory();
  for (const [index, box] of boxes.entries()) await fill(box, Math.min(PER_BOX, count - index * PER_BOX));
  const after = await scene.service.memory();
  const each = (of: 'heldBytes' | 'residentBytes'): number => (after[of] - before[of]) / KIB / lines.length;
  await Promise.all(lines.map((line) => line.close()));
  for (const box of boxes) await scene.remove(box);
  return [
    {
      what: `${lines.length} idle: KiB each in the service (${each('residentBytes').toFixed(1)} of its resident memory)`,
      bare: null,
      berth: each('heldBytes').toFixed(1),
      ratio: null,
      wanted: `below ${WANTED_KIB}`,
      isMet: each('heldBytes') < WANTED_KIB,
    },
  ];
};
