import fuzzysort from 'fuzzysort';
import type { Command, CommandGroup } from './commands.ts';

const MOST = 50;
const FIRST_CONTAINERS = 6;
/** From 0, anything, to 1, the same text. */
const LEAST = 0.3;

/** What is not offered first comes later among matches, too. */
const REST = 0.8;

const GROUPS: readonly CommandGroup[] = ['Containers', 'Pages', 'Actions'];

export type Ranked = { readonly group: CommandGroup; readonly commands: readonly Command[] };

/** The commands that match a text, best first in each group, and the group with the best match first. */
export function ranked(commands: readonly Command[], text: string): readonly Ranked[] {
  const found = text.trim() === '' ? first(commands) : matching(commands, text.trim());
  const order = text.trim() === '' ? GROUPS : [...new Set(found.map(({ group }) => group))];
  return order
    .map((group) => ({ group, commands: found.filter((one) => one.group === group) }))
    .filter((one) => one.commands.length > 0);
}

const first = (commands: readonly Command[]): readonly Command[] => {
  const all = commands.filter(({ isFirst }) => isFirst);
  const containers = all.filter(({ group }) => group === 'Containers').slice(0, FIRST_CONTAINERS);
  return [...containers, ...all.filter(({ group }) => group !== 'Containers')];
};

const matching = (commands: readonly Command[], text: string): readonly Command[] =>
  fuzzysort
    .go(text, commands, {
      keys: [(one) => `${one.label} ${one.words}`],
      limit: MOST,
      threshold: LEAST,
      // why: a name alone opens what has it
      scoreFn: ({ score, obj }) => (obj.isFirst ? score : score * REST),
    })
    .map(({ obj }) => obj);
