/**
 * Berth's overhead over the engine's own time for stop, start, recreate and create. Both alternate on one engine with
 * the same host configuration; the medians of the rounds count. Arguments: cases, all by default, and `rounds=20`.
 */
import { given, namedSections } from './support/arguments.ts';
import { CASES } from './support/lifecycle/cases.ts';
import { lifecycleRows } from './support/lifecycle/measure.ts';
import { allMet, markdown } from './support/report/rows.ts';

const rows = await lifecycleRows({ rounds: given('rounds', 20), cases: namedSections(CASES) });
console.log(`\n${markdown(rows)}`);
process.exitCode = allMet(rows) ? 0 : 1;
