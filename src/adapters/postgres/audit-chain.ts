import { sql } from 'kysely';
import {
  type ChainHead,
  type ChainLink,
  GENESIS,
  type SealedContent,
  sealed,
} from '../../domain/audit-chain.ts';
import type { AuditChain } from '../../ports/audit-chain.ts';
import { type ContentRow, toContent } from './audit-log.ts';
import type { Db } from './schema/database-schema.ts';
import { isAny } from './sql.ts';

/** One sealer in all processes; an arbitrary number for an advisory lock. */
const LOCK = 0x6265_7274_61;

export const postgresAuditChain = (db: Db): AuditChain => ({
  seal: async (atMost) =>
    // Without a transaction when there is nothing to do, the usual case.
    (await hasUnsealed(db)) ? await db.transaction().execute((trx) => sealSome(trx, atMost)) : 0,

  async links(behind, limit) {
    const rows = await db
      .selectFrom('audit_chain')
      .leftJoin('audit_records', 'audit_records.id', 'audit_chain.record_id')
      .select(['audit_chain.seq', 'audit_chain.record_id', 'audit_chain.hash'])
      .select(CONTENT)
      .select(micros)
      .where('audit_chain.seq', '>', String(behind))
      .orderBy('audit_chain.seq')
      .limit(limit)
      .execute();
    return rows.map((row): ChainLink => {
      const { seq, record_id: recordId, hash, id } = row;
      const content = id === null ? null : toSealed({ ...row, id } as SealedRow);
      return { seq: BigInt(seq), recordId, hash: hash.toString('hex'), content };
    });
  },

  head: async () => await headOf(db),

  async stray() {
    const { rows } = await sql<{ id: string }>`
      select id from audit_records r
      where not exists (select from audit_chain c where c.record_id = r.id)
        and not exists (select from audit_unsealed u where u.record_id = r.id)
      union all
      select record_id from audit_unsealed u
      where not exists (select from audit_records r where r.id = u.record_id)
      limit 1`.execute(db);
    return rows[0]?.id ?? null;
  },
});

const CONTENT = [
  'audit_records.id',
  'audit_records.user_id',
  'audit_records.action',
  'audit_records.ip_address',
  'audit_records.user_agent',
  'audit_records.details',
] as const;

const micros = sql<string>`(extract(epoch from audit_records.created_at) * 1000000)::bigint::text`.as(
  'micros',
);

type SealedRow = ContentRow & { readonly micros: string };

const toSealed = (row: SealedRow): SealedContent => ({ ...toContent(row), createdAtMicros: row.micros });

async function hasUnsealed(db: Db): Promise<boolean> {
  return await db.selectFrom('audit_unsealed').select('record_id').limit(1).$call(isAny);
}

async function headOf(db: Db): Promise<ChainHead | null> {
  const last = await db
    .selectFrom('audit_chain')
    .select(['seq', 'hash'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last === undefined ? null : { seq: BigInt(last.seq), hash: last.hash.toString('hex') };
}

/** Seals the oldest unsealed records; returns their number, 0 when another process has the lock. */
export async function sealSome(trx: Db, atMost: number): Promise<number> {
  const { rows: lock } = await sql<{
    ours: boolean;
  }>`select pg_try_advisory_xact_lock(${LOCK}) as ours`.execute(trx);
  if (!lock[0]?.ours) return 0;
  let head = (await headOf(trx)) ?? GENESIS;
  const rows = await trx
    .selectFrom('audit_unsealed')
    .innerJoin('audit_records', 'audit_records.id', 'audit_unsealed.record_id')
    .select(CONTENT)
    .select(micros)
    .orderBy('audit_unsealed.created_at')
    .orderBy('audit_unsealed.record_id')
    .limit(atMost)
    .execute();
  if (rows.length === 0) return 0;
  const links = rows.map((row) => {
    head = sealed(head, toSealed(row));
    return { seq: String(head.seq), record_id: row.id, hash: Buffer.from(head.hash, 'hex') };
  });
  await trx.insertInto('audit_chain').values(links).execute();
  const ids = rows.map(({ id }) => id);
  await trx.deleteFrom('audit_unsealed').where('record_id', '=', sql<string>`any(${ids})`).execute();
  return rows.length;
}
