import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import t from 'tap';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { StorageUnavailable } from '../../src/ports/repositories.ts';
import { auditLogContract } from '../contract/audit-log.ts';
import { catalogueRepositoryContract } from '../contract/catalogue-repository.ts';
import { containerRepositoryContract } from '../contract/container-repository.ts';
import { installationRepositoryContract } from '../contract/installation-repository.ts';
import { sessionRepositoryContract } from '../contract/session-repository.ts';
import { settingsRepositoryContract } from '../contract/settings-repository.ts';
import { sshKeyRepositoryContract } from '../contract/ssh-key-repository.ts';
import { terminalRecordsContract } from '../contract/terminal-records.ts';
import { userRepositoryContract } from '../contract/user-repository.ts';
import { freshDatabase } from '../support/database.ts';

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
  await auditLogContract('postgres', storage);
  await terminalRecordsContract('postgres', storage, async (ms) => void (await sleep(ms)));
  await sshKeyRepositoryContract('postgres', storage);

  await t.test('the audit only grows, whoever asks', async (t) => {
    for (const statement of [
      'update audit_records set details = $$x$$',
      'delete from audit_records',
      'truncate audit_records',
    ]) {
      await t.rejects(sql.raw(statement).execute(db), { message: /append-only/ }, statement);
    }
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
}
