import { type Selectable, sql } from 'kysely';
import type { CommandEnd } from '../../../domain/containers/command-run.ts';
import type { CommandRunRepository } from '../../../ports/containers/inside/command-run-repository.ts';
import type { CommandRunsTable } from '../schema/container-tables.ts';
import type { Db } from '../schema/database-schema.ts';
import { clockNow, firstAs, run } from '../sql.ts';

/** A client resumes for a minute. */
const KEPT_MINUTES = 10;
const FORGOTTEN_DAYS = 7;

const OPEN = { ended_at: null, exit_code: null, output_bytes: null, left_at: null, left_as: null };

export const postgresCommandRuns = (db: Db): CommandRunRepository => ({
  async begin(nameHash, replica) {
    const fresh = { ...OPEN, replica, started_at: clockNow };
    await db
      .insertInto('command_runs')
      .values({ name_hash: nameHash, ...fresh })
      .onConflict((conflict) => conflict.column('name_hash').doUpdateSet(fresh))
      .execute();
  },

  end: (nameHash, end) =>
    db
      .updateTable('command_runs')
      .set(
        end.kind === 'exit'
          ? { ended_at: clockNow, exit_code: end.exitCode, output_bytes: end.outputBytes }
          : { left_at: clockNow, left_as: end.kind },
      )
      .where('name_hash', '=', nameHash)
      .$call(run),

  forget: (nameHash) => db.deleteFrom('command_runs').where('name_hash', '=', nameHash).$call(run),

  find: (nameHash) =>
    db
      .selectFrom('command_runs')
      .select(['replica', 'started_at', 'ended_at', 'exit_code', 'output_bytes', 'left_as'])
      .where('name_hash', '=', nameHash)
      .$call(
        firstAs((row) => ({
          replica: row.replica,
          startedAt: row.started_at,
          end: endOf(row),
        })),
      ),

  sweep: () =>
    db
      .deleteFrom('command_runs')
      .where((eb) =>
        eb.or([
          eb('ended_at', '<', sql<Date>`now() - make_interval(mins => ${KEPT_MINUTES})`),
          eb('left_at', '<', sql<Date>`now() - make_interval(mins => ${KEPT_MINUTES})`),
          eb('started_at', '<', sql<Date>`now() - make_interval(days => ${FORGOTTEN_DAYS})`),
        ]),
      )
      .$call(run),
});

type EndColumns = Pick<Selectable<CommandRunsTable>, 'ended_at' | 'exit_code' | 'output_bytes' | 'left_as'>;

function endOf(row: EndColumns): CommandEnd | null {
  if (row.ended_at !== null)
    return { kind: 'exit', exitCode: row.exit_code, outputBytes: Number(row.output_bytes) };
  return row.left_as === null ? null : { kind: row.left_as };
}
