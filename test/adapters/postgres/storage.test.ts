import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import t from 'tap';
import { noMetrics } from '../../../src/adapters/memory/index.ts';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { forgetEnded } from '../../../src/app/history-cleanup.ts';
import { recordHealth } from '../../../src/app/service/record-health.ts';
import {
  type Repositories,
  StorageBusy,
  StorageTooSlow,
  StorageUnavailable,
} from '../../../src/ports/storage.ts';
import { read } from '../../contract/events.ts';
import { idempotencyKeysContract } from '../../contract/idempotency-keys.ts';
import { type Ageing, storageContracts } from '../../contract/storage.ts';
import { freshDatabase, run } from '../../support/database/database.ts';
import { blockedIn, hashOf, storedContainer, storedUser } from '../../support/database/stored.ts';
import { eventually } from '../../support/patience.ts';
import { silentLog } from '../../support/samples/samples.ts';
import { aPerson, aService, as } from '../../support/service/service.ts';
import { passingIn } from '../../support/time.ts';

/** The times that age the rows of a table. */
const TIMES: Readonly<Record<Ageing, readonly string[]>> = {
  operations: ['lease_until'],
  containers: ['role_setup_until'],
  warm_pool: ['lease_until'],
  recordings: ['created_at', 'seen_at'],
  api_tokens: ['created_at', 'expires_at', 'last_used_at'],
  events: ['created_at'],
  agents: ['last_seen_at'],
  snapshots: ['deleted_at', 'condemned_at', 'claimed_at', 'removed_at'],
  agent_enrolments: ['expires_at'],
  replica_reports: ['seen_at'],
  command_runs: ['started_at', 'ended_at', 'left_at'],
};
/** The columns that age everything that is finally forgotten. */
const ENDS = {
  operations: ['finished_at'],
  sessions: ['created_at', 'last_seen_at', 'expires_at', 'revoked_at'],
  collaborations: ['created_at', 'expires_at', 'ended_at'],
  containers: ['deleted_at', 'volume_condemned_at', 'volume_claimed_at', 'volume_removed_at'],
  snapshots: ['deleted_at', 'condemned_at', 'claimed_at', 'removed_at'],
  announcements: ['starts_at', 'ends_at'],
  health_outages: ['created_at', 'ended_at'],
} as const;

const url = await freshDatabase(t);
if (url !== null) {
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const storage = { ...postgresStorage(db), blocked: blockedIn(db) };
  const ageAll = async (days: number): Promise<void> => {
    for (const table of Object.keys(ENDS) as (keyof typeof ENDS)[])
      await passingIn(db, table, ...ENDS[table])(days * 86_400);
  };
  const ago = (seconds: number) => sql<Date>`now() - make_interval(secs => ${seconds})`;

  await t.test('nothing that was begun beside a failure is written after the rollback', async (t) => {
    const user = await storedUser(storage);
    const record = (tx: Repositories, details: string) =>
      tx.audit.append({ userId: user.id, action: 'login', ipAddress: '', userAgent: '', details });
    const failing = () =>
      storage.inTransaction(async (tx) => {
        const failure = record(tx, 'first').then(() => Promise.reject(new Error('refused')));
        const steps = record(tx, 'second').then(() => record(tx, 'third'));
        await Promise.all([failure, steps, record(tx, 'fourth'), record(tx, 'fifth')]);
      });
    // Whether a late statement is sent before the rollback's answer is a matter of chance.
    for (let time = 0; time < 50; time += 1) await t.rejects(failing(), { message: 'refused' });
    await storage.inTransaction(async (tx) => await record(tx, 'sixth'));
    const written = await db
      .selectFrom('audit_records')
      .select('details')
      .where('user_id', '=', user.id)
      .execute();
    t.same(written, [{ details: 'sixth' }]);
  });

  await t.test('nothing that is begun during a rollback is written', async (t) => {
    const user = await storedUser(storage);
    const entry = { userId: user.id, action: 'login', ipAddress: '', userAgent: '', details: '' } as const;
    const event = { type: 'container_stopped', dbId: randomUUID(), ownerId: user.id, data: {} } as const;
    const begun: Promise<unknown>[] = [];
    let isOver = false;
    const writeOn = async (tx: Repositories): Promise<void> => {
      // The statement of an event is compiled once, that of two audit records each time.
      for (; !isOver; await setImmediate())
        begun.push(Promise.allSettled([tx.audit.append(entry, entry), tx.events.append(event)]));
    };
    let writing = Promise.resolve();
    const failing = storage.inTransaction(async (tx) => {
      writing = writeOn(tx);
      throw new Error('refused');
    });
    await t.rejects(failing, { message: 'refused' });
    isOver = true;
    await writing;
    await Promise.all(begun);
    const [records, events] = await Promise.all([
      db.selectFrom('audit_records').select('id').where('user_id', '=', user.id).execute(),
      db.selectFrom('events').select('position').where('db_id', '=', event.dbId).execute(),
    ]);
    t.same([records, events], [[], []]);
  });

  await t.test('two processes that see one outage record it once', async (t) => {
    const ready = { status: 'ready', detail: '' } as const;
    const parts = { database: ready, engine: ready, image: ready, disk: ready, isolation: ready };
    const away = { status: 'degraded', detail: '', reason: 'missing' } as const;
    let engine: typeof ready | typeof away = away;
    const readiness = async () => ({ parts: { ...parts, engine } });
    const monotonicMs = () => performance.now();
    const both = [randomUUID(), randomUUID()].map((replica) =>
      recordHealth({ storage, replica, readiness, monotonicMs, metrics: noMetrics() }),
    );
    const recorded = async () => {
      await Promise.all([...both, ...both].map(({ pass }) => pass()));
      const outages = await db.selectFrom('health_outages').select('ended_at').execute();
      const events = await db
        .selectFrom('events')
        .select('type')
        .where('type', '=', 'health_changed')
        .execute();
      return [outages.map(({ ended_at }) => ended_at === null), events.length];
    };
    t.same(await recorded(), [[true], 1]);
    engine = ready;
    t.same(await recorded(), [[false], 2]);
    for (const { stopped } of both) await stopped();
    await db.deleteFrom('health_outages').execute();
  });

  await storageContracts('postgres', storage, {
    pass: (table, seconds) => passingIn(db, table, ...TIMES[table])(seconds),
    now: async () => new Date(),
    backdateSession: async (id, { revokedAt, expiresAt }) => {
      const times = {
        ...(revokedAt && { revoked_at: revokedAt }),
        ...(expiresAt && { expires_at: expiresAt }),
      };
      await db.updateTable('sessions').set(times).where('id', '=', id).execute();
    },
    silenceTerminal: async (id, seconds) => {
      await db
        .updateTable('terminal_records')
        .set({ last_ping_at: ago(seconds) })
        .where('id', '=', id)
        .execute();
    },
    silenceRun: async (run, seconds) => {
      await db
        .updateTable('replica_runs')
        .set({ seen_at: ago(seconds) })
        .where('run', '=', run)
        .execute();
    },
    endTimeOfShare: async (id) => {
      await db
        .updateTable('collaborations')
        .set({ expires_at: new Date(0) })
        .where('id', '=', id)
        .execute();
    },
    ageVolume: async (dbId, hours) => {
      const by = sql`make_interval(secs => ${hours * 3600})`;
      await sql`update containers set deleted_at = deleted_at - ${by},
        volume_condemned_at = volume_condemned_at - ${by}, volume_claimed_at = volume_claimed_at - ${by}
        where db_id = ${dbId}`.execute(db);
    },
    ageAll,
  });
  await idempotencyKeysContract('postgres', storage, async ({ userId, key }, hours) => {
    await sql`update idempotency_keys set created_at = created_at - make_interval(secs => ${hours * 3600})
      where user_id = ${userId} and key = ${key}`.execute(db);
  });

  await t.test('a repeated request with its key gets the same answer, without a stored secret', async (t) => {
    const service = await aService({ storage, clock: { now: () => new Date() } });
    const call = as(service, await aPerson(service, 'ada'));
    const keyed = { 'idempotency-key': 'k' };
    const create = () => call('POST', '/api/containers', { name: 'dev' }, keyed);
    t.equal((await create()).json().db_id, (await create()).json().db_id);
    const { token } = (await call('POST', '/api/tokens', { name: 'ci' }, keyed)).json();
    const { rows } = await sql<{ all: string }>`select string_agg(k::text, ' ') as all
      from idempotency_keys k`.execute(db);
    t.match(rows[0]?.all, token.slice(0, 12));
    t.notMatch(rows[0]?.all, token.slice(0, 13));
  });

  await t.test('the database refuses an impossible token', async (t) => {
    const user = await storedUser(storage);
    const insert = (change: object) =>
      db
        .insertInto('api_tokens')
        .values({
          user_id: user.id,
          name: 'ci',
          hash: Buffer.alloc(32, 1),
          prefix: 'svc_00000000',
          scopes: ['read'],
          ...change,
        })
        .execute();
    await insert({});
    await t.rejects(insert({}), { message: /api_tokens_hash/ }, 'a hash is there once');
    await t.rejects(insert({ hash: Buffer.alloc(31) }));
    await t.rejects(insert({ hash: Buffer.alloc(32, 2), scopes: [] }));
    await t.rejects(insert({ hash: Buffer.alloc(32, 2), scopes: ['root'] }));
    await t.rejects(insert({ hash: Buffer.alloc(32, 2), name: '' }));
  });

  await t.test('restored events with higher transaction numbers are not waited for', async (t) => {
    const { events } = storage.repositories;
    const from = await events.end();
    await sql`insert into events (xid, db_id, owner_id, type, data)
      values ('9000000000000000000', gen_random_uuid(), gen_random_uuid(), 'container_started', '{}')`.execute(
      db,
    );
    t.notMatch(await events.end(), /^9000/);
    t.notOk(await events.keepsSince('9000000000000000000-1'));
    await events.sweep();
    // A transaction in another database of this server can still hold back events of the tests before.
    const rest = await eventually(
      () => events.after(from, 9),
      ({ waiting }) => !waiting,
    );
    t.notOk(rest.waiting);
    t.notOk(rest.events.some(({ id }) => id.startsWith('9000')));
  });

  await t.test('a committed event held back by a transaction is reported as waiting', async (t) => {
    const { events } = storage.repositories;
    const from = await events.end();
    const { id } = await storedUser(storage);
    await storage.inTransaction(async (tx) => {
      await tx.users.rename(id, 'still_waiting');
      await events.append({ type: 'container_started', dbId: id, ownerId: id, data: {} });
      t.same(await events.after(from, 9), { events: [], waiting: true, isGone: false });
    });
    const [event] = await read(events, from, 1);
    t.equal(event?.dbId, id);
  });

  await t.test("one container's events keep the order of its changes, whoever began first", async (t) => {
    const { events } = storage.repositories;
    const from = await events.end();
    const { id: ownerId } = await storedUser(storage);
    const { dbId } = await storedContainer(storage, ownerId);
    const written: number[] = [];
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        storage.inTransaction(async (tx) => {
          await tx.roleSetups.findForUpdate(dbId);
          await tx.users.rename(ownerId, `ordered${n}`);
          for (let turns = n % 3; turns > 0; turns -= 1) await tx.users.findById(ownerId);
          written.push(n);
          await tx.events.append({ type: 'container_progress', dbId, ownerId, data: { n } });
        }),
      ),
    );
    const all = await read(events, from, 30);
    t.same(
      all.map(({ data }) => data['n']),
      written,
    );
  });

  await t.test('no database user can change the audit', async (t) => {
    for (const statement of [
      'update audit_records set details = $$x$$',
      'delete from audit_records',
      'truncate audit_records',
      'update audit_chain set seq = seq',
      'delete from audit_chain',
      'truncate audit_chain',
    ]) {
      await t.rejects(sql.raw(statement).execute(db), { message: /append-only/ }, statement);
    }
  });

  await t.test('a slow statement is told from an unavailable database', async (t) => {
    const short = openDatabase(openPool({ url, statementWithinMs: 50 }));
    t.teardown(() => short.destroy());
    await t.rejects(sql`select pg_sleep(5)`.execute(short), StorageTooSlow);
  });

  await t.test('an unavailable database is reported as such', async (t) => {
    const dead = openDatabase(openPool({ url: url.replace(/host=[^&]+/, 'host=/nonexistent') }));
    t.teardown(() => dead.destroy());
    const { repositories, inTransaction } = postgresStorage(dead);
    await t.rejects(repositories.settings.read(), StorageUnavailable);
    await t.rejects(repositories.sessions.findWithUser(t.name), StorageUnavailable);
    await t.rejects(
      inTransaction(async () => undefined),
      StorageUnavailable,
    );
  });

  await t.test('a migration by another process delays a transaction once, and a read never', async (t) => {
    const one = openDatabase(openPool({ url, poolSize: 1 }));
    t.teardown(() => one.destroy());
    const { repositories, inTransaction } = postgresStorage(one);
    const addColumn = (name: string) => sql.raw(`alter table sessions add column ${name} text`).execute(db);
    const { id } = await storedUser(storage);
    const listed = async ({ sessions }: Repositories) => (await sessions.listOwned(id)).sessions;
    t.same(await listed(repositories), []);
    await addColumn('first');
    t.same(await listed(repositories), []);
    const other = openDatabase(openPool({ url, poolSize: 1 }));
    t.teardown(() => other.destroy());
    const listing = () => postgresStorage(other).inTransaction(listed);
    t.same(await listing(), []);
    await addColumn('second');
    await t.rejects(listing(), StorageUnavailable);
    t.same(await listing(), []);
    t.same(await inTransaction(listed), []);
  });

  await t.test('a lack of free connections is no fault of the database', async (t) => {
    const narrow = openDatabase(openPool({ url, poolSize: 1 }));
    t.teardown(() => narrow.destroy());
    const { repositories, inTransaction } = postgresStorage(narrow);
    await inTransaction(async () => {
      await t.rejects(repositories.settings.read(), StorageBusy);
    });
    await t.resolves(repositories.settings.read(), 'and then it is free again');
  });

  await t.test('undeletable sessions do not stop the cleanup of others', async (t) => {
    const { id: userId } = await storedUser(storage);
    const { dbId } = await storedContainer(storage, userId);
    const { sessions, collaborations } = storage.repositories;
    const session = await sessions.insert({ userId, ipAddress: '', userAgent: '' });
    const share = { id: randomUUID(), dbId, ownerId: userId, mode: 'view', minutes: 1 } as const;
    await collaborations.insert({ ...share, codeHash: hashOf(share.id) });
    await ageAll(100);
    await run(
      url,
      `create function refuse_delete() returns trigger language plpgsql as $$ begin raise 'the disk is on fire'; end $$;
       create trigger refuse_delete before delete on sessions for each statement execute function refuse_delete()`,
    );
    const warned: object[] = [];
    await forgetEnded(storage, {
      ...silentLog,
      warn: (fields: object | string) => void warned.push(Object(fields)),
    })();
    t.ok(await sessions.findWithUser(session.id));
    t.equal(await collaborations.find(share.id), null);
    t.match(warned, [{ kind: 'sessions', err: { message: /on fire/ } }]);
  });
}

t.test('a connection that is lost while its pool closes is no fault', async (t) => {
  const lost: string[] = [];
  const url = 'postgres://localhost/none';
  const pool = openPool({ url, onIdleError: ({ message }) => lost.push(message) });
  pool.emit('error', new Error('in use'));
  await pool.end();
  pool.emit('error', new Error('closed'));
  t.same(lost, ['in use']);
});
