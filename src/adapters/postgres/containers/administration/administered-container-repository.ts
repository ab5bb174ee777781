import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { AGENT_NODE } from '../../../../domain/containers/agents/agent.ts';
import { isUuid } from '../../../../domain/uuid.ts';
import type {
  AdministeredContainerRepository,
  AdministeredFilter,
  AdministeredRequest,
  AdministeredSort,
} from '../../../../ports/containers/administration/administered-container-repository.ts';
import { UnknownPage } from '../../../../ports/pagination.ts';
import { toPage } from '../../pagination.ts';
import type { Db } from '../../schema/database-schema.ts';
import { COUNT, containing, countOf } from '../../sql.ts';
import { ofOwner, toContainer } from '../container-repository.ts';

export const postgresAdministeredContainers = (db: Db): AdministeredContainerRepository => ({
  async page(request, filter) {
    const { after, limit, sort } = request;
    const key = keyOf(sort);
    const order = sort.isReverse ? 'desc' : 'asc';
    const [rows, total] = await Promise.all([
      found(db, filter)
        .selectAll('c')
        .select(ofOwner)
        .select([
          sql<boolean>`u.guest_until is not null`.as('is_guests'),
          sql<string>`replace(c.db_id::text, '-', '') || ${key}::text`.as('position'),
        ])
        .$if(after !== null, (query) => query.where(isAfter(request, key)))
        .orderBy(key, order)
        .orderBy('c.db_id', order)
        .limit(limit + 1)
        .execute(),
      found(db, filter).select(COUNT).$call(countOf),
    ]);
    const page = toPage(rows, limit, (row) => ({ container: toContainer(row), isGuests: row.is_guests }));
    return { ...page, total };
  },
});

function found(db: Db, { isDeleted, owner, state, dbIds, text }: AdministeredFilter) {
  const pattern = containing(text ?? '');
  const ids = dbIds?.filter(isUuid);
  return db
    .selectFrom('containers as c')
    .innerJoin('users as u', 'u.id', 'c.owner_id')
    .where('c.node', '<>', AGENT_NODE)
    .where(isDeleted ? RESTORABLE : sql<SqlBool>`c.state <> 'deleted'`)
    .$if(state !== undefined, (query) => query.where('c.state', '=', state ?? 'running'))
    .$if(ids !== undefined, (query) => query.where(sql<SqlBool>`c.db_id = any(${ids}::uuid[])`))
    .$if(owner !== undefined, (query) =>
      isUuid(owner ?? '')
        ? query.where('c.owner_id', '=', owner ?? '')
        : query.where(sql<SqlBool>`lower(u.username) = lower(${owner})`),
    )
    .$if(text !== undefined, (query) =>
      query.where((eb) =>
        eb.or([
          eb('c.name', 'ilike', pattern),
          eb('u.username', 'ilike', pattern),
          eb('c.image', 'ilike', pattern),
          eb('c.role', 'ilike', pattern),
        ]),
      ),
    );
}

/** Of an owner who is still there, with a volume that is not being removed. */
const RESTORABLE = sql<SqlBool>`c.state = 'deleted' and c.runtime_id is not null and u.deleted_at is null
  and c.volume_claimed_at is null and c.volume_purged_at is null`;

type Sort = AdministeredRequest['sort'];

const NUMBERS: { readonly [S in AdministeredSort]?: true } = {
  created_at: true,
  last_used_at: true,
  disk: true,
};
/** Later than every time in microseconds, and more than every disk has. */
const NEVER = 9_000_000_000_000_000n;

/** The key by which rows are ordered, never null: a text by its bytes, a time in microseconds, a disk in MB. */
function keyOf({ by, isReverse }: Sort): RawBuilder<string> {
  const missing = sql.lit(Number(isReverse ? -NEVER : NEVER));
  switch (by) {
    case 'created_at':
    case 'last_used_at':
      return sql`coalesce((extract(epoch from ${sql.ref(`c.${by}`)}) * 1000000)::bigint, ${missing})`;
    case 'disk':
      return sql`coalesce(c.disk_used_mb::bigint, ${missing})`;
    case 'name':
      return sql`lower(c.name) collate "C"`;
    case 'owner':
      return sql`lower(u.username) collate "C"`;
    case 'status':
      return sql`c.state collate "C"`;
  }
}

const POSITION = /^([0-9a-f]{32})(.*)$/su;
const NUMBER = /^-?\d{1,16}$/;

/** Whether a row comes after that position; throws `UnknownPage` for an invalid one. */
function isAfter({ after, sort }: AdministeredRequest, key: RawBuilder<string>) {
  const [, id, value] = POSITION.exec(Buffer.from(after ?? '', 'base64url').toString()) ?? [];
  const isNumber = NUMBERS[sort.by] === true;
  if (id === undefined || value === undefined || value.includes('\0') || (isNumber && !NUMBER.test(value)))
    throw new UnknownPage('no such position in the list');
  const than = sort.isReverse ? sql`<` : sql`>`;
  const from = isNumber ? sql`${value}::bigint` : sql`${value}::text`;
  return sql<SqlBool>`(${key}, c.db_id) ${than} (${from}, ${id}::uuid)`;
}
