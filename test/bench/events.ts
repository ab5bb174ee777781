/**
 * The time of one event to the last of many subscribers of a process, against a bare broadcast to as many; and from its
 * commit at one process to a subscriber of another. Arguments: `subscribers=5000`, `rounds=30`.
 */
import { given } from './support/arguments.ts';
import { eventRows } from './support/events/measure.ts';
import { allMet, markdown } from './support/report/rows.ts';

const options = { subscribers: given('subscribers', 5_000), rounds: given('rounds', 30), across: 500 };
const rows = await eventRows(options);
console.log(`\n${markdown(rows)}`);
process.exitCode = allMet(rows) ? 0 : 1;
