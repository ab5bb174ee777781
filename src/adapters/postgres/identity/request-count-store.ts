import { sql } from 'kysely';
import type { RequestCountStore } from '../../../ports/identity/request-count-store.ts';
import type { Db } from '../schema/database-schema.ts';
import { run } from '../sql.ts';

type Sum = { key: string; minute: number; count: number; count_before: number | null; now: Date };

export const postgresRequestCounts = (db: Db): RequestCountStore => ({
  async add(counts) {
    // Grouped, since a row cannot be updated twice; ordered, against deadlocks between processes.
    const { rows } = await sql<Sum>`
      insert into request_counts as r (key, minute, count)
      select key, minute, sum(count) from unnest(
        ${counts.map((one) => one.key)}::text[],
        ${counts.map((one) => one.minute)}::int[],
        ${counts.map((one) => one.count)}::int[]
      ) as added (key, minute, count)
      group by key, minute order by key, minute
      on conflict (key, minute) do update set count = r.count + excluded.count
      returning key, minute, count, clock_timestamp() as now,
        (select b.count from request_counts b where b.key = r.key and b.minute = r.minute - 1) as count_before
    `.execute(db);
    const tallies = rows.map(({ key, minute, count, count_before }) => ({
      key,
      minute,
      count,
      countBefore: count_before ?? 0,
    }));
    return { now: rows[0]?.now ?? new Date(), tallies };
  },

  forgetBefore: (minute) => db.deleteFrom('request_counts').where('minute', '<', minute).$call(run),
});
