import { sql } from 'kysely';
import type { ScreenLockRepository } from '../../../ports/identity/screen-lock-repository.ts';
import { compiledOnce, type Placeholders } from '../connection/compiled-once.ts';
import type { Db } from '../schema/database-schema.ts';
import { firstAs, run } from '../sql.ts';

export function postgresScreenLocks(db: Db): ScreenLockRepository {
  const user = (userId: string) => db.updateTable('users').where('id', '=', userId);
  const session = (sessionId: string) => db.updateTable('sessions').where('id', '=', sessionId);

  return {
    passcodeHash: (userId) =>
      db
        .selectFrom('users')
        .select('passcode_hash')
        .where('id', '=', userId)
        .$call(firstAs((row) => row.passcode_hash)),

    setPasscode: (userId, hash) => user(userId).set({ passcode_hash: hash }).$call(run),

    async protectionOf(userId) {
      const row = await protection(db, { userId }).executeTakeFirst();
      return {
        passwordSet: row?.password_hash != null,
        mfaEnabled: row?.confirmed_at != null,
        passcodeSet: row?.passcode_hash != null,
        autoLockMinutes: row?.auto_lock_minutes ?? null,
      };
    },

    setAutoLock: (userId, minutes) => user(userId).set({ auto_lock_minutes: minutes }).$call(run),

    lockSession: (sessionId) =>
      session(sessionId).set({ locked_at: sql<Date>`coalesce(locked_at, now())` }).$call(run),

    wrongPasscodes: (sessionId) =>
      db
        .selectFrom('sessions')
        .select('wrong_passcodes')
        .where('id', '=', sessionId)
        .where('revoked_at', 'is', null)
        .forUpdate()
        .$call(firstAs((row) => row.wrong_passcodes)),

    countWrongPasscode: (sessionId) =>
      session(sessionId).set({ wrong_passcodes: sql<number>`wrong_passcodes + 1` }).$call(run),

    unlockSession: (sessionId) =>
      session(sessionId)
        .set({
          locked_at: null,
          wrong_passcodes: 0,
          last_seen_at: sql<Date>`greatest(last_seen_at, clock_timestamp())`,
        })
        .$call(run),
  };
}

const protection = compiledOnce((db, { userId }: Placeholders<{ readonly userId: string }>) =>
  db
    .selectFrom('users')
    .leftJoin('totp_factors', 'totp_factors.user_id', 'users.id')
    .select(['password_hash', 'passcode_hash', 'auto_lock_minutes', 'confirmed_at'])
    .where('users.id', '=', userId),
);
