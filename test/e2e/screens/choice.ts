import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Scene } from './scene.ts';
import { GROUPS } from './scenes/index.ts';

/** What is asked for of a group. */
export type Chosen = {
  readonly group: string;
  readonly scenes: readonly Scene[];
  /** Whether these are all of the group. */
  readonly isComplete: boolean;
};

/** In the folder of the pictures: the groups that were complete and without faults, a line each. */
const doneIn = (folder: string): string => path.join(folder, 'done.txt');

/**
 * The groups and scenes to make. `words`: names of groups, or texts in the names of scenes; the empty text is in all.
 * A resumed run leaves out the groups that the run before has done.
 */
export function chosen(words: readonly string[], folder: string, isResumed: boolean): readonly Chosen[] {
  const done =
    isResumed && existsSync(doneIn(folder)) ? readFileSync(doneIn(folder), 'utf8').split('\n') : [];
  if (!isResumed) rmSync(doneIn(folder), { force: true });
  const texts = words.filter((word) => !Object.hasOwn(GROUPS, word));
  const isAsked = ({ name }: Scene): boolean => texts.some((text) => name.includes(text));
  return Object.entries<readonly Scene[]>(GROUPS)
    .filter(([group]) => !done.includes(group))
    .map(([group, all]) => {
      const scenes = words.includes(group) ? all : all.filter(isAsked);
      return { group, scenes, isComplete: scenes.length === all.length };
    });
}

/** Lets a resumed run leave out the group. */
export const noteDone = (folder: string, { group }: Chosen): void =>
  appendFileSync(doneIn(folder), `${group}\n`);

/** The names of these, and of scenes that have pictures in the folder, in the order of all. */
export function namesToShow(folder: string, choice: readonly Chosen[]): readonly string[] {
  const now = new Set(choice.flatMap(({ scenes }) => scenes.map(({ name }) => name)));
  const all = Object.values<readonly Scene[]>(GROUPS).flatMap((scenes) => scenes.map(({ name }) => name));
  return all.filter((name) => now.has(name) || existsSync(path.join(folder, `${name}-light.png`)));
}
