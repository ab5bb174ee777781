/**
 * Berth's terminals beside ttyd's, wetty's, the engine's own client's and the engine's bare stream, in the same
 * containers and taking turns. Arguments: sections (`open`, `echo`, `output`), all by default, `rounds=9`, `mb=300`,
 * `keys=200`.
 */
import { given, namedSections } from './support/arguments.ts';
import { measurePeers, PEER_SECTIONS } from './support/peers/measure.ts';
import { allMet, markdown } from './support/report/rows.ts';

const options = { rounds: given('rounds', 9), megabytes: given('mb', 300), keys: given('keys', 200) };
const { rows, absences } = await measurePeers(namedSections(PEER_SECTIONS), options);
console.log(`\n${markdown(rows, absences)}`);
process.exitCode = allMet(rows) ? 0 : 1;
