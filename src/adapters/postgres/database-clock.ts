import { sql } from 'kysely';

/** By the clock of the database, also within a transaction, for which `now()` stands still. */
export const clockNow = sql<Date>`clock_timestamp()`;

/** When a lease runs out that is taken now. */
export const leaseEnd = (seconds: number) => sql<Date>`clock_timestamp() + make_interval(secs => ${seconds})`;
