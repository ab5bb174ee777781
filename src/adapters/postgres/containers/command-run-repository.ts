import { sql } from 'kysely';
import type { CommandRunRepository } from '../../../ports/containers/inside/command-run-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import { clockNow, firstAs, run } from '../sql.ts';

/** A client resumes for a minute. */
const KEPT_MINUTES = 10;
const FORGOTTEN_DAYS = 7;

export const postgresCommandRuns = (db: Db): CommandRunRepository => ({
  async begin(nameHash, replica) {
    const old = db
      .deleteFrom('command_runs')
      .where((eb) =>
        eb.or([
          eb('ended_at', '<', sql<Date>`now() - make_interval(mins => ${KEPT_MINUTES})`),
          eb('started_at', '<', sql<Date>`now() - make_interval(days => ${FORGOTTEN_DAYS})`),
        ]),
      );
    await old.execute();
    const fresh = { replica, started_at: clockNow, ended_at: null, exit_code: null, output_bytes: null };
    await db
      .insertInto('command_runs')
      .values({ name_hash: nameHash, ...fresh })
      .onConflict((conflict) => conflict.column('name_hash').doUpdateSet(fresh))
      .execute();
  },

  end: (nameHash, { exitCode, outputBytes }) =>
    db
      .updateTable('command_runs')
      .set({ ended_at: clockNow, exit_code: exitCode, output_bytes: outputBytes })
      .where('name_hash', '=', nameHash)
      .$call(run),

  forget: (nameHash) => db.deleteFrom('command_runs').where('name_hash', '=', nameHash).$call(run),

  find: (nameHash) =>
    db
      .selectFrom('command_runs')
      .select(['replica', 'started_at', 'ended_at', 'exit_code', 'output_bytes'])
      .where('name_hash', '=', nameHash)
      .$call(
        firstAs((row) => ({
          replica: row.replica,
          startedAt: row.started_at,
          end:
            row.ended_at === null ? null : { exitCode: row.exit_code, outputBytes: Number(row.output_bytes) },
        })),
      ),
});
