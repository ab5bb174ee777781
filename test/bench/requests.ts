/**
 * `GET /api/me` and `GET /api/containers` with a login token against `GET /livez` of the same service; and the cost of a
 * request with 100 and with 100,000 containers in the database. Arguments: sections (`common`, `size`), all by default,
 * and `rounds=9`.
 */
import { given, namedSections } from './support/arguments.ts';
import { loader } from './support/load.ts';
import { allMet, markdown, type Row } from './support/report/rows.ts';
import { requestRows } from './support/requests/common-requests.ts';
import { databaseSizeRows } from './support/requests/database-size.ts';

const rounds = given('rounds', 9);
const sections = namedSections(['common', 'size']);
console.log(`${loader}, ${rounds} rounds, taking turns`);
const rows: Row[] = [];
if (sections.includes('common')) rows.push(...(await requestRows(rounds)));
if (sections.includes('size')) rows.push(...(await databaseSizeRows(rounds)));
console.log(`\n${markdown(rows)}`);
process.exitCode = allMet(rows) ? 0 : 1;
