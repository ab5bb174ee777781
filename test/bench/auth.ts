/**
 * The share of Fastify's request rate that an API token's check leaves. Bare Fastify and the service alternate on the
 * same machine; the median of the rounds counts. Argument: `rounds=9`.
 */
import { given } from './support/arguments.ts';
import { allMet, markdown } from './support/report/rows.ts';
import { tokenRows } from './support/requests/token-request.ts';

const rows = await tokenRows(given('rounds', 9));
console.log(`\n${markdown(rows)}`);
process.exitCode = allMet(rows) ? 0 : 1;
