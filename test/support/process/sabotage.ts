import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Test } from 'tap';
import { DB_ID_LABEL, INSTANCE_LABEL } from '../../../src/adapters/docker/engine/engine-names.ts';
import type { TestEngine } from '../engine/engine.ts';
import { Invariants } from './invariants.ts';

export type Sabotaged = {
  readonly url: string;
  /** Of a container that runs and has never been restored. */
  readonly dbId: string;
  /** Of one that is deleted. */
  readonly deletedId: string;
};

/** Breaks each invariant of an installation whose service is stopped, and looks whether that is noticed. */
export async function sabotage(
  t: Test,
  engine: TestEngine,
  { url, dbId, deletedId }: Sabotaged,
): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  t.teardown(() => pool.end());
  const sql = async (text: string, ...values: unknown[]): Promise<pg.QueryResult> => pool.query(text, values);
  const instance = (await sql('select id from installation')).rows[0].id;
  const { docker } = engine;
  const invariants = new Invariants(url, docker);
  t.teardown(() => invariants.close());
  t.same(await invariants.violations(), [], 'nothing to notice so far');

  const aContainer = async (label: string): Promise<() => Promise<unknown>> => {
    const made = await docker.createContainer({
      Image: engine.image,
      Labels: { [INSTANCE_LABEL]: instance, [DB_ID_LABEL]: label },
    });
    return () => made.remove({ force: true });
  };
  const setRow = async (column: 'state' | 'runtime_id' | 'volume', value: string) => {
    const { rows } = await sql(`select ${column} as before from containers where db_id = $1`, dbId);
    await sql(`update containers set ${column} = $1 where db_id = $2`, value, dbId);
    return () => sql(`update containers set ${column} = $1 where db_id = $2`, rows[0].before, dbId);
  };
  /** The trigger that keeps the records is put aside, as nobody but the owner of the table can. */
  const removeRecord = async (table: 'audit_records' | 'events', where: string) => {
    await sql('set session_replication_role = replica');
    await sql(`create temp table put_aside as select * from ${table} where ${where}`);
    await sql(`delete from ${table} where ${where}`);
    return async () => {
      await sql(`insert into ${table} overriding system value select * from put_aside`);
      await sql('drop table put_aside');
      await sql('set session_replication_role = origin');
    };
  };
  const addRecord = async () => {
    const { rows } = await sql(
      `insert into audit_records (user_id, action, details, ip_address, user_agent)
        select user_id, 'container_stopped', details, ip_address, user_agent from audit_records where details = $1 limit 1
        returning id`,
      dbId,
    );
    return async () => {
      await sql('set session_replication_role = replica');
      await sql('delete from audit_records where id = $1', rows[0].id);
      await sql('set session_replication_role = origin');
    };
  };

  const SABOTAGE: readonly (readonly [string, () => Promise<() => Promise<unknown>>, RegExp])[] = [
    ['a second container of a row', () => aContainer(dbId), /has 2 containers/],
    ['a container of a deleted row', () => aContainer(deletedId), /\(deleted\) has 1 containers/],
    ['a container without a row', () => aContainer(randomUUID()), /has no row/],
    ['a row that points elsewhere', () => setRow('runtime_id', 'f'.repeat(64)), /points elsewhere/],
    ['a row that says something else', () => setRow('state', 'stopped'), /is stopped, its container running/],
    ['a row that is not at rest', () => setRow('state', 'updating'), /is updating/],
    ['a volume that is gone', () => setRow('volume', 'gone'), /the volume of .* is gone/],
    [
      'a change without an audit record',
      () => removeRecord('audit_records', `action = 'container_created' and details = '${dbId}'`),
      /1 operations unaudited/,
    ],
    ['an audit record without a change', addRecord, /1 operations invented/],
    [
      'a change without an event',
      () => removeRecord('events', `type = 'container_created' and db_id = '${dbId}'`),
      /1 operations unannounced/,
    ],
  ];
  for (const [name, sabotage, expected] of SABOTAGE) {
    await t.test(name, async (t) => {
      const undo = await sabotage();
      t.match((await invariants.violations()).join('\n'), expected);
      await undo();
      t.same(await invariants.violations(), [], 'and nothing once it is undone');
    });
  }

  await t.test('an operation that nobody ends', async (t) => {
    await sql(
      'update operations set finished_at = null, outcome = null where id = (select id from operations where db_id = $1 limit 1)',
      dbId,
    );
    await t.rejects(invariants.settled(1_000), /no operation is active/);
  });
}
