import { type Kysely, sql } from 'kysely';
import type { ScreenLockRepository } from '../../../ports/identity/screen-lock-repository.ts';
import type { Database } from '../schema/database-schema.ts';

export function postgresScreenLocks(db: Kysely<Database>): ScreenLockRepository {
  const user = (userId: string) => db.updateTable('users').where('id', '=', userId);
  const session = (sessionId: string) => db.updateTable('sessions').where('id', '=', sessionId);

  return {
    async passcodeHash(userId) {
      const row = await db
        .selectFrom('users')
        .select('passcode_hash')
        .where('id', '=', userId)
        .executeTakeFirst();
      return row?.passcode_hash ?? null;
    },

    async setPasscode(userId, hash) {
      await user(userId).set({ passcode_hash: hash }).execute();
    },

    async autoLockMinutes(userId) {
      const row = await db
        .selectFrom('users')
        .select('auto_lock_minutes')
        .where('id', '=', userId)
        .executeTakeFirst();
      return row?.auto_lock_minutes ?? null;
    },

    async setAutoLock(userId, minutes) {
      await user(userId).set({ auto_lock_minutes: minutes }).execute();
    },

    async lockSession(sessionId) {
      await session(sessionId).set({ locked_at: sql<Date>`coalesce(locked_at, now())` }).execute();
    },

    async wrongPasscodes(sessionId) {
      const row = await db
        .selectFrom('sessions')
        .select('wrong_passcodes')
        .where('id', '=', sessionId)
        .where('revoked_at', 'is', null)
        .forUpdate()
        .executeTakeFirst();
      return row?.wrong_passcodes ?? null;
    },

    async countWrongPasscode(sessionId) {
      await session(sessionId).set({ wrong_passcodes: sql<number>`wrong_passcodes + 1` }).execute();
    },

    async unlockSession(sessionId) {
      await session(sessionId)
        .set({
          locked_at: null,
          wrong_passcodes: 0,
          last_seen_at: sql<Date>`greatest(last_seen_at, clock_timestamp())`,
        })
        .execute();
    },
  };
}
