import fuzzysort from 'fuzzysort';
import type { Command, CommandGroup } from './commands.ts';

const MAX_RESULTS = 50;
const FIRST_CONTAINERS = 6;
/** The lowest score of a match: 0 is anything, 1 the same text. */
const MIN_SCORE = 0.3;

/** The weight of commands that are not offered before anything is typed. */
const LATER_WEIGHT = 0.8;

const GROUPS: readonly CommandGroup[] = ['Containers', 'Terminal', 'Pages', 'Actions'];

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
      limit: MAX_RESULTS,
      threshold: MIN_SCORE,
      // why: a container's name alone must open the container
      scoreFn: ({ score, obj }) => (obj.isFirst ? score : score * LATER_WEIGHT),
    })
    .map(({ obj }) => obj);
