import { type Selectable, sql } from 'kysely';
import type { User } from '../../../domain/identity/user.ts';
import type { UserRepository, UserWithPassword } from '../../../ports/identity/user-repository.ts';
import { fromColumns, toColumns } from '../columns.ts';
import type { Db } from '../schema/database-schema.ts';
import type { UsersTable } from '../schema/identity-tables.ts';
import { allAs, changedOne, clockNow, firstAs, run } from '../sql.ts';

const UNIQUE_VIOLATION = '23505';

/** The field of a new user that is taken; null for another error. */
function takenField(error: unknown): 'email' | 'username' | null {
  const { code, constraint } = error as { code?: string; constraint?: string };
  if (code !== UNIQUE_VIOLATION) return null;
  return constraint === 'users_email' ? 'email' : 'username';
}

export const postgresUsers = (db: Db): UserRepository => ({
  ...userReads(db),
  ...userChanges(db),
  ...userLocks(db),
});

const userReads = (db: Db): Pick<UserRepository, 'findById' | 'findForLogin'> => ({
  findById: (id) =>
    db
      .selectFrom('users')
      .selectAll()
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .$call(firstAs(toUser)),

  findForLogin: (login) =>
    db
      .selectFrom('users')
      .selectAll()
      .select(clockNow.as('now'))
      .where((eb) =>
        eb.or([
          eb(sql`lower(email)`, '=', login.toLowerCase()),
          eb(sql`lower(username)`, '=', login.toLowerCase()),
        ]),
      )
      .where('deleted_at', 'is', null)
      .$call(firstAs(withPassword)),
});

const userChanges = (
  db: Db,
): Pick<UserRepository, 'insert' | 'rename' | 'changePassword' | 'setPassword' | 'change'> => ({
  async insert(user) {
    const row = await db
      .insertInto('users')
      .values(userColumns(user))
      .returningAll()
      .executeTakeFirstOrThrow()
      .catch((error: unknown) => {
        const taken = takenField(error);
        if (taken === null) throw error;
        return { taken };
      });
    return 'taken' in row ? row : { user: toUser(row) };
  },

  async rename(id, username) {
    const row = await db
      .updateTable('users')
      .set({ username })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst()
      .catch((error: unknown) => {
        if (takenField(error) === null) throw error;
      });
    return row === undefined ? null : toUser(row);
  },

  changePassword: (id, fromHash, toHash) =>
    db
      .updateTable('users')
      .set({ password_hash: toHash })
      .where('id', '=', id)
      .where('password_hash', '=', fromHash)
      .$call(changedOne),

  setPassword: (id, hash) =>
    db.updateTable('users').set({ password_hash: hash }).where('id', '=', id).$call(run),

  change: (id, { tier, role, disabled, disabledReason, endsAt }) =>
    db
      .updateTable('users')
      .set({
        tier,
        role,
        ...(disabled === undefined
          ? {}
          : { disabled_at: disabled ? sql<Date>`coalesce(disabled_at, now())` : null }),
        disabled_reason: disabled === false ? null : disabledReason,
        ends_at: endsAt,
      })
      .where('id', '=', id)
      .returningAll()
      .$call(firstAs(toUser)),
});

const userLocks = (db: Db): Pick<UserRepository, 'lockForSignIn' | 'lockAdmins' | 'lock'> => ({
  lockForSignIn: (id) =>
    db
      .selectFrom('users')
      .selectAll()
      .select(clockNow.as('now'))
      .where('id', '=', id)
      .forShare()
      .$call(firstAs(withPassword)),

  lockAdmins: () =>
    db
      .selectFrom('users')
      .select('id')
      .where('role', '=', 'admin')
      .where('disabled_at', 'is', null)
      .orderBy('id')
      .forUpdate()
      .$call(allAs(({ id }) => id)),

  async lock(id) {
    // Allows writes of rows that refer to the user: a stronger lock could deadlock.
    const row = await db
      .selectFrom('users')
      .select('deleted_at')
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst();
    return row?.deleted_at === null;
  },
});

const withPassword = (row: Selectable<UsersTable> & { readonly now: Date }): UserWithPassword => ({
  user: toUser(row),
  passwordHash: row.password_hash,
  disabledReason: row.disabled_reason,
  now: row.now,
});

const userColumns = toColumns('email username passwordHash role tier guestUntil endsAt');

export const toUser: (row: Selectable<UsersTable>) => User = fromColumns(
  'id email username role tier createdAt disabledAt guestUntil endsAt',
);
