import { mock } from 'node:test';
import { type Kysely, sql } from 'kysely';
import type { Test } from 'tap';
import type { Database } from '../../src/adapters/postgres/schema/database-schema.ts';

/** Between two looks at what is due, in milliseconds. */
const TICK_MS = 100;

/** Timers and the time of day stand still until the test lets some pass, and run again when `t` ends. */
export function standingTime(t: Test) {
  const clearReal = clearTimeout;
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  const clearMocked = clearTimeout;
  // Work that began before may end meanwhile, and then clears its real timer.
  globalThis.clearTimeout = (timer) => {
    clearReal(timer);
    clearMocked(timer);
  };
  t.teardown(() => mock.timers.reset());
  const start = Date.now();
  return {
    nowMs: () => Date.now() - start,
    pass: (ms: number) => {
      for (let left = ms; left > 0; left -= TICK_MS) mock.timers.tick(Math.min(TICK_MS, left));
    },
  };
}

/** Lets so many seconds pass for the rows of a table: what these columns say becomes earlier. */
export const passingIn =
  (db: Kysely<Database>, table: keyof Database, ...columns: readonly string[]) =>
  async (seconds: number): Promise<void> => {
    const earlier = columns.map(
      (column) => sql`${sql.ref(column)} = ${sql.ref(column)} - make_interval(secs => ${seconds})`,
    );
    await sql`update ${sql.table(table)} set ${sql.join(earlier)}`.execute(db);
  };
