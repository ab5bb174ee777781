import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { chosen, namesToShow, noteDone } from '../e2e/screens/choice.ts';
import type { Scene } from '../e2e/screens/scene.ts';
import { GROUPS } from '../e2e/screens/scenes/index.ts';
import { aFolder } from '../support/folder.ts';

const ALL = Object.values<readonly Scene[]>(GROUPS).flat();

/** The groups with scenes to make. */
const groupsOf = (words: readonly string[], folder: string, isResumed = false): readonly string[] =>
  chosen(words, folder, isResumed)
    .filter(({ scenes }) => scenes.length > 0)
    .map(({ group }) => group);

t.test('each scene has a picture of its own', async (t) => {
  const names = ALL.map(({ name }) => name);
  t.same(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  );
  for (const name of names) t.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/);
});

t.test('words choose groups by name, and scenes by a text in theirs', async (t) => {
  const folder = aFolder(t);
  t.same(groupsOf([''], folder), Object.keys(GROUPS), 'all without words');
  t.same(groupsOf(['frame', 'people'], folder), ['frame', 'people']);
  const [share] = chosen(['share-link'], folder, false).filter(({ scenes }) => scenes.length > 0);
  t.same([share?.group, share?.scenes.map(({ name }) => name)], ['terminals', ['share-link']]);
  t.equal(share?.isComplete, false);
  t.same(groupsOf(['nothing of this name'], folder), []);
});

t.test('a resumed run leaves out the groups that are done, another one starts over', async (t) => {
  const folder = aFolder(t);
  const [first, second] = chosen([''], folder, false);
  if (first === undefined || second === undefined) return t.fail('there are groups');
  t.equal(first.isComplete, true);
  noteDone(folder, first);
  t.same(groupsOf([''], folder, true), Object.keys(GROUPS).slice(1));
  t.same(groupsOf([''], folder), Object.keys(GROUPS));
  t.same(groupsOf([''], folder, true), Object.keys(GROUPS), 'what an earlier run has done is forgotten');
});

t.test('the page of pictures shows what is made now, and what was made before, in one order', async (t) => {
  const folder = aFolder(t);
  const [first, , third] = ALL;
  writeFileSync(path.join(folder, `${first?.name}-light.png`), '');
  const choice = [{ group: 'any', scenes: third === undefined ? [] : [third], isComplete: false }];
  t.same(namesToShow(folder, choice), [first?.name, third?.name]);
});
