/**
 * Every target in one table. Each section has its own installation, and ends before the next one begins. Arguments:
 * sections, all by default, `rounds=9`, `mb=300`, `keys=200`, `subscribers=5000`.
 */
import { given, namedSections } from './support/arguments.ts';
import { eventRows } from './support/events/measure.ts';
import { CASES } from './support/lifecycle/cases.ts';
import { lifecycleRows } from './support/lifecycle/measure.ts';
import { measurePeers, PEER_SECTIONS } from './support/peers/measure.ts';
import { type Absences, allMet, failed, markdown, type Row } from './support/report/rows.ts';
import { requestRows } from './support/requests/common-requests.ts';
import { databaseSizeRows } from './support/requests/database-size.ts';
import { tokenRows } from './support/requests/token-request.ts';
import { loadNow } from './support/say.ts';

type Measured = { readonly rows: readonly Row[]; readonly absences?: Absences };

const rounds = given('rounds', 9);
const [megabytes, keys] = [given('mb', 300), given('keys', 200)];
const subscribers = given('subscribers', 5_000);
const only = (rows: readonly Row[]): Measured => ({ rows });
const NAMES = ['terminals', 'lifecycle', 'auth', 'requests', 'events', 'size'] as const;
const SECTIONS: Readonly<Record<(typeof NAMES)[number], () => Promise<Measured>>> = {
  terminals: () => measurePeers(PEER_SECTIONS, { rounds, megabytes, keys }),
  // Short, and with the most noise.
  lifecycle: () => lifecycleRows({ rounds: rounds * 2, cases: CASES }).then(only),
  auth: () => tokenRows(rounds).then(only),
  requests: () => requestRows(rounds).then(only),
  events: () => eventRows({ subscribers, rounds: rounds * 2, across: 0 }).then(only),
  size: () => databaseSizeRows(rounds).then(only),
};

const minutesSince = (startMs: number): string =>
  `${((performance.now() - startMs) / 60_000).toFixed(1)} minutes`;

const all: Row[] = [];
const beganMs = performance.now();
let absences: Absences = {};
for (const name of namedSections(NAMES)) {
  const sectionMs = performance.now();
  console.log(`\n${name}, at a load of ${loadNow()}`);
  const measured = await SECTIONS[name]().catch((error): Measured => ({ rows: [failed(name, error)] }));
  all.push(...measured.rows);
  absences = { ...absences, ...measured.absences };
  console.log(`\n${markdown(measured.rows, measured.absences)}\n\nin ${minutesSince(sectionMs)}`);
}
console.log(`\n# All, in ${minutesSince(beganMs)}\n\n${markdown(all, absences)}`);
process.exitCode = allMet(all) ? 0 : 1;
