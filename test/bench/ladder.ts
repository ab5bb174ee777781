/**
 * What each part of the service costs, by processor time: servers with one part more each, up to the service, take
 * turns under the same load. Arguments: sections (`token`, `event`), `rounds=9`, `subscribers=1000`.
 */
import { given, namedSections } from './support/arguments.ts';
import { eventLadder } from './support/ladder/event-ladder.ts';
import { tokenLadder } from './support/ladder/token-ladder.ts';

const rounds = given('rounds', 9);
const subscribers = given('subscribers', 1_000);
const SECTIONS = {
  token: () => tokenLadder(rounds),
  event: () => eventLadder(rounds, subscribers),
} as const;

for (const name of namedSections(['token', 'event'] as const)) console.log(`\n${await SECTIONS[name]()}`);
