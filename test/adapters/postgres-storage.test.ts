import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { postgresEvents } from '../../src/adapters/postgres/event-log.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { StorageBusy, StorageTooSlow, StorageUnavailable } from '../../src/ports/repositories.ts';
import { auditChainContract } from '../contract/audit-chain.ts';
import { auditLogContract } from '../contract/audit-log.ts';
import { carriedImagesContract } from '../contract/carried-images.ts';
import { catalogueRepositoryContract } from '../contract/catalogue-repository.ts';
import { collaborationRepositoryContract } from '../contract/collaboration-repository.ts';
import { containerRepositoryContract } from '../contract/container-repository.ts';
import { eventLogContract, read } from '../contract/event-log.ts';
import { installationRepositoryContract } from '../contract/installation-repository.ts';
import { recordingRepositoryContract } from '../contract/recording-repository.ts';
import { roleSetupRepositoryContract } from '../contract/role-setup-repository.ts';
import { sessionRepositoryContract } from '../contract/session-repository.ts';
import { settingsRepositoryContract } from '../contract/settings-repository.ts';
import { sshKeyRepositoryContract } from '../contract/ssh-key-repository.ts';
import { terminalHoldsContract } from '../contract/terminal-holds.ts';
import { terminalRecordsContract } from '../contract/terminal-records.ts';
import { userRepositoryContract } from '../contract/user-repository.ts';
import { freshDatabase } from '../support/database.ts';
import { blockedIn } from '../support/locks.ts';
import { waitFor } from '../support/patience.ts';
import { aStoredUser, hashOf } from '../support/storage.ts';
import { storedContainer, storedUser } from '../support/stored.ts';
import { passingIn } from '../support/time.ts';

const url = await freshDatabase(t);
if (url !== null) {
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const storage = postgresStorage(db);

  await installationRepositoryContract('postgres', storage);
  await settingsRepositoryContract('postgres', storage);
  await catalogueRepositoryContract('postgres', storage);
  await userRepositoryContract('postgres', storage);
  await sessionRepositoryContract('postgres', storage, async (id, { revokedAt, expiresAt }) => {
    if (revokedAt)
      await db.updateTable('sessions').set({ revoked_at: revokedAt }).where('id', '=', id).execute();
    if (expiresAt)
      await db.updateTable('sessions').set({ expires_at: expiresAt }).where('id', '=', id).execute();
  });
  await containerRepositoryContract('postgres', storage);
  await carriedImagesContract('postgres', storage);
  await roleSetupRepositoryContract('postgres', storage, passingIn(db, 'containers', 'role_setup_until'));
  await auditLogContract('postgres', storage);
  await terminalRecordsContract('postgres', storage, async (id, seconds) => {
    const at = sql<Date>`now() - make_interval(secs => ${seconds})`;
    await db.updateTable('terminal_records').set({ last_ping_at: at }).where('id', '=', id).execute();
  });
  await terminalHoldsContract('postgres', storage, async (run, seconds) => {
    const at = sql<Date>`now() - make_interval(secs => ${seconds})`;
    await db.updateTable('replica_runs').set({ seen_at: at }).where('run', '=', run).execute();
  });
  await auditChainContract('postgres', storage);
  await sshKeyRepositoryContract('postgres', storage);
  const recordingsGo = passingIn(db, 'recordings', 'created_at', 'seen_at');
  await recordingRepositoryContract('postgres', storage, (ms) => recordingsGo(ms / 1_000));
  await collaborationRepositoryContract('postgres', storage, async (id) => {
    await db
      .updateTable('collaborations')
      .set({ expires_at: new Date(0) })
      .where('id', '=', id)
      .execute();
  });

  const age = async (hours: number): Promise<void> => {
    const older = sql<Date>`created_at - make_interval(secs => ${hours * 3600})`;
    await db.updateTable('events').set({ created_at: older }).execute();
  };
  await eventLogContract('postgres', storage, age, blockedIn(db));

  await t.test('events of another server, whose transactions went further, are not waited for', async (t) => {
    const { events } = storage.repositories;
    const from = await events.end();
    await sql`insert into events (xid, db_id, owner_id, type, data)
      values ('9000000000000000000', gen_random_uuid(), gen_random_uuid(), 'container_started', '{}')`.execute(
      db,
    );
    t.notMatch(await events.end(), /^9000/);
    t.notOk(await events.keepsSince('9000000000000000000-1'));
    await events.sweep();
    t.same(await events.after(from, 9), { events: [], waiting: false });
  });

  await t.test('what is committed and may not be handed out yet is said to be waiting', async (t) => {
    const { events } = storage.repositories;
    const from = await events.end();
    const { id } = await aStoredUser(storage.repositories, 'waiting');
    await storage.inTransaction(async (tx) => {
      await tx.users.rename(id, 'still_waiting');
      await events.append({ type: 'container_started', dbId: id, ownerId: id, data: {} });
      t.same(await events.after(from, 9), { events: [], waiting: true });
    });
    const [event] = await read(events, from, 1);
    t.equal(event?.dbId, id);
  });

  await t.test('events of one container are in the order of its changes, whoever began first', async (t) => {
    const { events } = storage.repositories;
    const from = await events.end();
    const { id: ownerId } = await aStoredUser(storage.repositories, 'ordered');
    const { dbId } = await storedContainer(storage, ownerId);
    const written: number[] = [];
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        storage.inTransaction(async (tx) => {
          await tx.roleSetups.hold(dbId);
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

  await t.test('the audit only grows, whoever asks', async (t) => {
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

  await t.test('who comes back reads no events of others', async (t) => {
    const { events, collaborations } = storage.repositories;
    const [ada, bob] = [await storedUser(storage), await storedUser(storage)];
    const { dbId } = await storedContainer(storage, ada.id);
    const id = randomUUID();
    const share = {
      id,
      containerId: dbId,
      ownerId: ada.id,
      mode: 'view',
      codeHash: hashOf(id),
      minutes: 60,
    } as const;
    await collaborations.insert(share);
    await collaborations.admit({ collaborationId: id, userId: bob.id });
    const after = await events.end();
    const own = { type: 'container_started', data: {} } as const;
    await events.append({ ...own, dbId: randomUUID(), ownerId: bob.id });
    await events.append({ ...own, dbId, ownerId: ada.id });
    await sql`insert into events (db_id, owner_id, type, data)
      select gen_random_uuid(), gen_random_uuid(), 'container_started', '{}' from generate_series(1, 20000)`.execute(
      db,
    );
    await sql`analyze events`.execute(db);
    const [upTo] = (
      await sql<{ id: string }>`
      select xid || '-' || position as id from events order by xid desc, position desc limit 1`.execute(db)
    ).rows;
    const read = await db.transaction().execute(async (trx) => {
      const seen = await postgresEvents(trx).seenBy(bob.id, { after, upTo: upTo?.id ?? '' }, 1_001);
      const { rows } = await sql<{ rows: string }>`select seq_tup_read + idx_tup_fetch as rows
        from pg_stat_xact_user_tables where relname = 'events'`.execute(trx);
      return { seen: seen.length, rows: Number(rows[0]?.rows) };
    });
    t.equal(read.seen, 2);
    // Whole pages of a bitmap scan are counted, with the rows of others on them.
    t.ok(read.rows < 2_000, `read ${read.rows} rows of 20,002`);
  });

  await t.test('a statement that takes too long is told from a database that is away', async (t) => {
    const short = openDatabase(openPool({ url, statementWithinMs: 50 }));
    t.teardown(() => short.destroy());
    await t.rejects(sql`select pg_sleep(5)`.execute(short), StorageTooSlow);
  });

  await t.test('a database that is gone is said to be, and is not taken for an answer', async (t) => {
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

  await t.test(
    'a connection that is not free in time is a shortage, and no fault of the database',
    async (t) => {
      const narrow = openDatabase(openPool({ url, poolSize: 1 }));
      t.teardown(() => narrow.destroy());
      const { repositories, inTransaction } = postgresStorage(narrow);
      await inTransaction(async () => {
        await t.rejects(repositories.settings.read(), StorageBusy);
      });
      await t.resolves(repositories.settings.read(), 'and then it is free again');
    },
  );

  await t.test(
    'of two who wait for each other one is told to come again, and the other goes on',
    async (t) => {
      const [one, two] = [
        await aStoredUser(storage.repositories, 'one'),
        await aStoredUser(storage.repositories, 'two'),
      ];
      let locked = 0;
      const crossed = [[one, two] as const, [two, one] as const].map(([first, second]) =>
        storage.inTransaction(async ({ users }) => {
          await users.lock(first.id);
          locked += 1;
          await waitFor(() => locked >= 2, { what: 'each has its first' });
          await users.lock(second.id);
        }),
      );
      const ends = await Promise.allSettled(crossed);
      t.same(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
      const lost = ends.find((end) => end.status === 'rejected');
      t.ok(lost?.reason instanceof StorageUnavailable, String(lost?.reason));
    },
  );
}
