import { sql } from 'kysely';
import type { Db } from '../schema/database-schema.ts';

/** Enough to remove rows faster than they are made. */
const ROWS_AT_MOST = 100;

/** Removes some expired rows before a new one is inserted, without waiting for those that others have locked. */
export async function sweepExpired(
  db: Db,
  table: 'provider_sign_ins' | 'device_sign_ins' | 'pending_proofs',
  key: string,
): Promise<void> {
  await sql`delete from ${sql.table(table)} where ${sql.ref(key)} in (
    select ${sql.ref(key)} from ${sql.table(table)} where expires_at <= now()
    limit ${ROWS_AT_MOST} for update skip locked)`.execute(db);
}
