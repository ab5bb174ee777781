import { type Selectable, sql } from 'kysely';
import { UNSEEN_ENDS } from '../../../domain/containers/processes/process.ts';
import {
  MAX_STORED_BYTES_OF_OWNER,
  type StoredOutput,
} from '../../../domain/containers/processes/stored-output.ts';
import {
  MAX_UNSTORED,
  type ProcessOutputRepository,
} from '../../../ports/containers/processes/process-output-repository.ts';
import type { ProcessOutputsTable } from '../schema/container-tables.ts';
import type { Db } from '../schema/database-schema.ts';
import { allAs, firstAs } from '../sql.ts';

export const postgresProcessOutputs = (db: Db): ProcessOutputRepository => ({
  async store(processId, ownerId, output) {
    const row = rowOf(output);
    await db
      .insertInto('process_outputs')
      .values({ process_id: processId, owner_id: ownerId, ...row })
      .onConflict((conflict) =>
        conflict
          .column('process_id')
          .doUpdateSet({ ...row, stored_at: sql`clock_timestamp()` })
          .where('process_outputs.is_whole', '=', false),
      )
      .execute();
    await removeOldest(db, ownerId);
  },

  find: (processId) =>
    db.selectFrom('process_outputs').selectAll().where('process_id', '=', processId).$call(firstAs(toOutput)),

  async unstored() {
    const all = db
      .selectFrom('processes as p')
      .innerJoin('containers as c', (join) =>
        join.onRef('c.db_id', '=', 'p.db_id').onRef('c.runtime_id', '=', 'p.runtime_id'),
      )
      .leftJoin('process_outputs as o', 'o.process_id', 'p.id')
      .where('p.state', '=', 'ended')
      .where('c.state', '=', 'running')
      .where((where) =>
        where.or([
          where('o.is_whole', 'is', null),
          where.and([where('o.is_whole', '=', false), where('p.ended_by', 'not in', [...UNSEEN_ENDS])]),
        ]),
      )
      .select(['p.id', 'c.db_id', 'c.owner_id'])
      .select(sql<string>`row_number() over (partition by c.owner_id order by random())`.as('turn'));
    return await db
      .selectFrom(all.as('unstored'))
      .select(['id', 'db_id', 'owner_id'])
      .where('turn', '<=', String(MAX_UNSTORED))
      .orderBy('turn')
      .$call(allAs((row) => ({ processId: row.id, dbId: row.db_id, ownerId: row.owner_id })));
  },
});

const rowOf = ({ stdout, stderr, isWhole }: StoredOutput) => ({
  stdout: stdout.data,
  stdout_first: stdout.firstKept,
  stderr: stderr.data,
  stderr_first: stderr.firstKept,
  is_whole: isWhole,
});

const removeOldest = (db: Db, ownerId: string) =>
  sql`
    update process_outputs o
    set stdout_first = o.stdout_first + length(o.stdout), stdout = '',
      stderr_first = o.stderr_first + length(o.stderr), stderr = ''
    from (
      select process_id, sum(length(stdout) + length(stderr)) over (
        order by stored_at desc, process_id rows unbounded preceding
      ) as bytes
      from process_outputs where owner_id = ${ownerId} and length(stdout) + length(stderr) > 0
    ) newest
    where newest.process_id = o.process_id and newest.bytes > ${MAX_STORED_BYTES_OF_OWNER}
  `.execute(db);

const toOutput = (row: Selectable<ProcessOutputsTable>): StoredOutput => ({
  stdout: { firstKept: Number(row.stdout_first), data: row.stdout },
  stderr: { firstKept: Number(row.stderr_first), data: row.stderr },
  isWhole: row.is_whole,
});
