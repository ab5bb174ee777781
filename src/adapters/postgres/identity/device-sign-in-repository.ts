import { type Selectable, sql } from 'kysely';
import type { DeviceDecision, DeviceSignIn } from '../../../domain/identity/device-sign-in.ts';
import { addressGroup } from '../../../domain/identity/request-rate.ts';
import type {
  DeviceSignInRepository,
  NewDeviceSignIn,
} from '../../../ports/identity/device-sign-in-repository.ts';
import { fromColumns, toColumns } from '../columns.ts';
import type { Db } from '../schema/database-schema.ts';
import type { DeviceSignInsTable } from '../schema/identity-tables.ts';
import { originColumns, toOrigin } from '../shared-columns.ts';
import { clockNow, firstAs, onlyAs, run } from '../sql.ts';
import { sweepExpired } from './sweep-expired.ts';

const alive = (db: Db) => db.selectFrom('device_sign_ins').where('expires_at', '>', clockNow);

export const postgresDeviceSignIns = (db: Db): DeviceSignInRepository => ({
  async insert(signIn, lifeMinutes) {
    await sweepExpired(db, 'device_sign_ins', 'device_hash');
    return await db
      .insertInto('device_sign_ins')
      .values(toRow(signIn, lifeMinutes))
      .onConflict((conflict) => conflict.doNothing())
      .returning('expires_at')
      .$call(firstAs((row) => row.expires_at));
  },

  count: (ipAddress) =>
    alive(db)
      .select([
        sql<number>`count(*)::int`.as('all'),
        sql<number>`count(*) filter (where address_group = ${addressGroup(ipAddress)})::int`.as('ofAddress'),
      ])
      .$call(onlyAs((row) => row)),

  lock: (deviceHash) =>
    alive(db)
      .selectAll()
      .select(clockNow.as('now'))
      .where('device_hash', '=', deviceHash)
      .forUpdate()
      .$call(firstAs((row) => ({ signIn: toSignIn(row), now: row.now }))),

  polled: (deviceHash) =>
    db
      .updateTable('device_sign_ins')
      .set({ polled_at: clockNow })
      .where('device_hash', '=', deviceHash)
      .$call(run),

  findUndecided: (userCodeHash) =>
    alive(db)
      .selectAll()
      .where('user_code_hash', '=', userCodeHash)
      .where('decision', 'is', null)
      .$call(firstAs(toSignIn)),

  async decide(userCodeHash, decision, lifeSeconds) {
    const changed = await db
      .updateTable('device_sign_ins')
      .set({
        ...columnsOf(decision),
        expires_at: sql<Date>`least(expires_at, clock_timestamp() + make_interval(secs => ${lifeSeconds}))`,
      })
      .where('user_code_hash', '=', userCodeHash)
      .where('decision', 'is', null)
      .where('expires_at', '>', clockNow)
      .executeTakeFirst();
    return changed.numUpdatedRows > 0n;
  },

  remove: (deviceHash) => db.deleteFrom('device_sign_ins').where('device_hash', '=', deviceHash).$call(run),
});

const deviceSignInColumns = toColumns('deviceHash userCodeHash machine');

const toRow = ({ origin, ...signIn }: NewDeviceSignIn, lifeMinutes: number) => ({
  ...deviceSignInColumns(signIn),
  ...originColumns(origin),
  address_group: addressGroup(origin.ipAddress),
  expires_at: sql<Date>`clock_timestamp() + make_interval(mins => ${lifeMinutes})`,
});

const columnsOf = (decision: DeviceDecision) =>
  decision.kind === 'approved'
    ? { decision: decision.kind, user_id: decision.userId, session_id: decision.sessionId }
    : { decision: decision.kind, user_id: null, session_id: null };

const deviceSignInFields = fromColumns('machine startedAt expiresAt polledAt');

const toSignIn = (row: Selectable<DeviceSignInsTable>): DeviceSignIn => ({
  ...deviceSignInFields(row),
  origin: toOrigin(row),
  decision: toDecision(row),
});

function toDecision({
  decision,
  user_id,
  session_id,
}: Selectable<DeviceSignInsTable>): DeviceDecision | null {
  if (decision === null) return null;
  if (user_id === null || session_id === null) return { kind: 'denied' };
  return { kind: 'approved', userId: user_id, sessionId: session_id };
}
