import type Docker from 'dockerode';
import pg from 'pg';
import { DB_ID_LABEL, INSTANCE_LABEL } from '../../../src/adapters/docker/engine/engine-names.ts';
import { waitFor } from '../patience.ts';

type Row = {
  readonly db_id: string;
  readonly state: string;
  readonly runtime_id: string | null;
  readonly volume: string;
};

/** What an engine has, seen without Berth. */
export type EngineSeen = {
  /** The containers of an installation, running or not. */
  containersOf(instance: string): Promise<readonly SeenContainer[]>;
  hasVolume(volume: string): Promise<boolean>;
};

type SeenContainer = {
  readonly runtimeId: string;
  readonly dbId: string;
  readonly state: 'running' | string;
};

const seenByDocker = (docker: Docker): EngineSeen => ({
  async containersOf(instance) {
    const filters = { label: [`${INSTANCE_LABEL}=${instance}`] };
    const listed = await docker.listContainers({ all: true, filters });
    return listed.map(({ Id, State, Labels }) => ({
      runtimeId: Id,
      dbId: Labels[DB_ID_LABEL] ?? '',
      state: State,
    }));
  },
  hasVolume: (volume) =>
    docker
      .getVolume(volume)
      .inspect()
      .then(
        () => true,
        () => false,
      ),
});

const SETTLE_WITHIN_MS = 60_000;
const AT_REST = new Set(['running', 'stopped', 'deleted']);

/** Invariants of rows, engine and records while nothing is in progress. */
export class Invariants {
  readonly #pool: pg.Pool;
  readonly #engine: EngineSeen;

  constructor(url: string, engine: Docker | EngineSeen) {
    this.#pool = new pg.Pool({ connectionString: url, max: 2 });
    this.#engine = 'containersOf' in engine ? engine : seenByDocker(engine);
    this.#pool.on('error', () => {});
  }

  async #rows<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await this.#pool.query<T>(text, values)).rows;
  }

  async row(dbId: string): Promise<Row> {
    const [row] = await this.#rows<Row>('select * from containers where db_id = $1', [dbId]);
    if (row === undefined) throw new Error(`no row ${dbId}`);
    return row;
  }

  /** Waits until no operation is active; a database that was just killed may end its first connections. */
  async settled(withinMs = SETTLE_WITHIN_MS): Promise<void> {
    const active = () => this.#rows('select id from operations where finished_at is null');
    const isSettled = () =>
      active().then(
        (rows) => rows.length === 0,
        () => false,
      );
    await waitFor(isSettled, {
      patienceMs: withinMs,
      everyMs: 100,
      what: 'no operation is active',
    });
  }

  /** Every violated invariant, in words. */
  async violations(): Promise<string[]> {
    const rows = await this.#rows<Row>('select db_id, state, runtime_id, volume from containers');
    const [{ id: instance } = { id: '' }] = await this.#rows<{ id: string }>('select id from installation');
    const listed = await this.#engine.containersOf(instance);
    const perRow = await Promise.all(rows.map((row) => this.#ofRow(row, listed)));
    const members = await this.#rows<{ db_id: string }>('select db_id from warm_pool');
    const known = new Set([...rows, ...members].map((row) => row.db_id));
    const strangers = listed.filter(({ dbId }) => !known.has(dbId));
    return [
      ...perRow.flat(),
      ...strangers.map(({ runtimeId }) => `container ${runtimeId} has no row`),
      ...(await this.#ofRecords()),
    ];
  }

  async #ofRow(row: Row, listed: readonly SeenContainer[]): Promise<string[]> {
    const mine = listed.filter(({ dbId }) => dbId === row.db_id);
    const faults: string[] = [];
    const expected = row.state === 'deleted' ? 0 : 1;
    if (!AT_REST.has(row.state)) faults.push(`row ${row.db_id} is ${row.state}`);
    if (mine.length !== expected)
      faults.push(`row ${row.db_id} (${row.state}) has ${mine.length} containers`);
    if (expected === 1 && mine[0] && mine[0].runtimeId !== row.runtime_id)
      faults.push(`row ${row.db_id} points elsewhere`);
    if (expected === 1 && mine[0] && (mine[0].state === 'running') !== (row.state === 'running')) {
      faults.push(`row ${row.db_id} is ${row.state}, its container ${mine[0].state}`);
    }
    if (row.runtime_id !== null && !(await this.#engine.hasVolume(row.volume)))
      faults.push(`the volume of ${row.db_id} is gone`);
    return faults;
  }

  /**
   * Each committed operation has one audit record and one event, in the order of the commits; others have no record.
   */
  async #ofRecords(): Promise<string[]> {
    const names = `case kind when 'create' then 'container_created' when 'start' then 'container_started'
      when 'stop' then 'container_stopped' when 'update' then 'container_updated'
      when 'delete' then 'container_deleted' else 'container_restored' end`;
    const [counts] = await this.#rows<Record<string, string>>(`
      with committed as (select db_id::text, ${names} as name from operations
        where outcome = 'done' and kind <> 'snapshot'),
      expected as (select db_id, case name when 'container_restored' then 'container_created' else name end from committed),
      audited as (select details as db_id, action as name from audit_records where action like 'container_%'),
      announced as (select db_id::text, type as name from events e
        where not (type in ('container_started', 'container_stopped') and not exists (
          select 1 from audit_records a where a.details = e.db_id::text and a.action = e.type
        )) and type <> 'container_progress')
      select
        (select count(*) from (table committed except all table audited) x) as unaudited,
        (select count(*) from (table audited except all table committed) x) as invented,
        (select count(*) from (table expected except all table announced) x) as unannounced`);
    return Object.entries(counts ?? {})
      .filter(([, count]) => count !== '0')
      .map(([name, count]) => `${count} operations ${name}`);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
