import { type Selectable, sql } from 'kysely';
import type { ContainerProcess, ProcessState } from '../../../domain/containers/processes/process.ts';
import {
  KEPT_HOURS,
  MAX_ENDED,
  type ProcessRepository,
} from '../../../ports/containers/processes/process-repository.ts';
import { fromColumns, toColumns } from '../columns.ts';
import type { ProcessesTable } from '../schema/container-tables.ts';
import type { Db } from '../schema/database-schema.ts';
import { allAs, COUNT, changedOne, countOf, firstAs, onlyAs } from '../sql.ts';

export const postgresProcesses = (db: Db): ProcessRepository => ({
  ...processReads(db),
  ...processChanges(db),
});

const processReads = (
  db: Db,
): Pick<ProcessRepository, 'find' | 'list' | 'count' | 'hasNamed' | 'busyContainers'> => ({
  find: (id, dbId) =>
    db
      .selectFrom('processes')
      .selectAll()
      .where('id', '=', id)
      .where('db_id', '=', dbId)
      .$call(firstAs(toProcess)),

  async list(dbId) {
    const all = db.selectFrom('processes').selectAll().where('db_id', '=', dbId);
    const ended = all
      .where('state', '=', 'ended')
      .where(isKept)
      .orderBy('ended_at', 'desc')
      .orderBy('id', 'desc')
      .limit(MAX_ENDED);
    return await db
      .selectFrom(
        all
          .where('state', '<>', 'ended')
          .unionAll(sql`(${ended})` as never)
          .as('shown'),
      )
      .selectAll()
      .orderBy('started_at', 'desc')
      .orderBy('id', 'desc')
      .$call(allAs(toProcess));
  },

  async count(dbId, userId) {
    const active = db.selectFrom('processes').select(COUNT).where('state', '<>', 'ended');
    const [ofContainer, ofUser] = await Promise.all([
      active.where('db_id', '=', dbId).$call(countOf),
      active.where('user_id', '=', userId).$call(countOf),
    ]);
    return { ofContainer, ofUser };
  },

  async hasNamed(dbId, name) {
    const named = db.selectFrom('processes').select(COUNT).where('state', '<>', 'ended');
    return (await named.where('db_id', '=', dbId).where('name', '=', name).$call(countOf)) > 0;
  },

  busyContainers: () =>
    db
      .selectFrom('processes as p')
      .innerJoin('containers as c', 'c.db_id', 'p.db_id')
      .where('p.state', '<>', 'ended')
      .select(['c.db_id', 'c.owner_id'])
      .distinct()
      .$call(allAs(fromColumns('dbId ownerId'))),
});

const processChanges = (db: Db): Pick<ProcessRepository, 'insert' | 'advance' | 'resize' | 'forget'> => ({
  insert: ({ command, terminal, ...process }) =>
    db
      .insertInto('processes')
      .values({
        ...processColumns(process),
        command: JSON.stringify(command),
        terminal_cols: terminal?.cols ?? null,
        terminal_rows: terminal?.rows ?? null,
      })
      .returningAll()
      .$call(onlyAs(toProcess)),

  advance: (id, from, to) =>
    db
      .updateTable('processes')
      .set(columnsOf(to))
      .where('id', '=', id)
      .where('state', '=', from)
      .$call(changedOne),

  async resize(id, { cols, rows }) {
    const size = { terminal_cols: cols, terminal_rows: rows };
    await db.updateTable('processes').set(size).where('id', '=', id).execute();
  },

  async forget() {
    const shown = sql<boolean>`id in (
      select id from (
        select id, row_number() over (partition by db_id order by ended_at desc, id desc) as place
        from processes where state = 'ended'
      ) ranked where place > ${MAX_ENDED}
    )`;
    await db
      .deleteFrom('processes')
      .where('state', '=', 'ended')
      .where((where) => where.or([where.not(isKept), shown]))
      .execute();
  },
});

const isKept = sql<boolean>`ended_at > now() - make_interval(hours => ${KEPT_HOURS})`;

const columnsOf = (state: ProcessState) => {
  switch (state.kind) {
    case 'starting':
      return { state: state.kind, pid: null, ended_at: null, ended_by: null, exit_code: null };
    case 'running':
      return { state: state.kind, pid: state.pid, ended_at: null, ended_by: null, exit_code: null };
    case 'ended': {
      const { kind, pid, endedAt, by, exitCode } = state;
      return { state: kind, pid, ended_at: endedAt, ended_by: by, exit_code: exitCode };
    }
  }
};

const processFields = fromColumns('id dbId userId runtimeId name command takesInput startedAt');

const toProcess = (row: Selectable<ProcessesTable>): ContainerProcess => ({
  ...processFields(row),
  terminal: terminalOf(row),
  state: stateOf(row),
});

const processColumns = toColumns('id dbId userId runtimeId name takesInput');

const terminalOf = ({ terminal_cols: cols, terminal_rows: rows }: Selectable<ProcessesTable>) =>
  cols === null || rows === null ? null : { cols, rows };

function stateOf(row: Selectable<ProcessesTable>): ProcessState {
  const { state, pid, ended_at: endedAt, ended_by: by, exit_code: exitCode } = row;
  if (state === 'ended' && endedAt !== null && by !== null)
    return { kind: 'ended', pid, endedAt, by, exitCode };
  return state === 'running' && pid !== null ? { kind: 'running', pid } : { kind: 'starting' };
}
