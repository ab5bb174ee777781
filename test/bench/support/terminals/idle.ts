/** What a terminal costs the service in which nothing happens. */
import { inGroups } from './fair.ts';
import type { Line } from './line.ts';
import type { Part } from './part.ts';
import type { Box } from './scene.ts';

/** A container may have so many processes. */
const PER_BOX = 200;
const KIB = 1_024;
const WANTED_KIB = 32;

export const idle: Part = async (scene, { idle: count }) => {
  const boxes: Box[] = [];
  for (let at = 0; at < count; at += PER_BOX) boxes.push(await scene.box(`idle-${at}`, { memoryMb: 1_024 }));
  const lines: Line[] = [];
  // The first ones make what all share: connections to the database, compiled code.
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
