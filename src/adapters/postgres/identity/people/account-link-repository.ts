import { type Selectable, sql } from 'kysely';
import {
  type AccountLink,
  ENDED_LINKS_LISTED_DAYS,
  type LinkKind,
  type LinkPurpose,
} from '../../../../domain/identity/people/account-link.ts';
import type {
  AccountLinkRepository,
  NamedLink,
  NewAccountLink,
} from '../../../../ports/identity/people/account-link-repository.ts';
import { fromColumns } from '../../columns.ts';
import { pageAs } from '../../pagination.ts';
import type { Db } from '../../schema/database-schema.ts';
import type { AccountLinksTable } from '../../schema/identity-tables.ts';
import { COUNT, changedOne, clockNow, countOf, firstAs, onlyAs, run } from '../../sql.ts';

const SWEEP_AT_MOST = 100;

const isOpen = sql<boolean>`account_links.used_at is null and account_links.withdrawn_at is null
  and account_links.expires_at > clock_timestamp()`;

/** Kinds that have an account from the start; an invitation gets one when it is used. */
const columnsOf = (purpose: LinkPurpose) => {
  if (purpose.kind !== 'invitation') return { kind: purpose.kind, user_id: purpose.userId };
  const { kind, role, tier, email, username, accountEndsAt } = purpose;
  return { kind, role, tier, email, username, account_ends_at: accountEndsAt };
};

/** Each new row removes some that ended long ago. */
const sweep = (db: Db) =>
  db
    .deleteFrom('account_links')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('account_links')
        .select('id')
        .where(
          sql<Date>`least(used_at, withdrawn_at, expires_at)`,
          '<',
          sql<Date>`now() - make_interval(days => ${sql.lit(ENDED_LINKS_LISTED_DAYS)})`,
        )
        .limit(SWEEP_AT_MOST)
        .forUpdate()
        .skipLocked(),
    )
    .execute();

const named = (db: Db) =>
  db
    .selectFrom('account_links')
    .innerJoin('users as creator', 'creator.id', 'account_links.created_by')
    .leftJoin('users as account', 'account.id', 'account_links.user_id')
    .selectAll('account_links')
    .select(['creator.username as creator_name', 'account.username as account_name', clockNow.as('now')]);

async function insert(
  db: Db,
  { codeHash, purpose, createdBy }: NewAccountLink,
  lifeHours: number,
): Promise<NamedLink> {
  await sweep(db);
  const { id } = await db
    .insertInto('account_links')
    .values({
      code_hash: codeHash,
      ...columnsOf(purpose),
      created_by: createdBy,
      expires_at: sql<Date>`clock_timestamp() + make_interval(hours => ${lifeHours})`,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return await named(db).where('account_links.id', '=', id).$call(onlyAs(toNamed));
}

export function postgresAccountLinks(db: Db): AccountLinkRepository {
  const openOf = (codeHash: Buffer) => named(db).where('code_hash', '=', codeHash).where(isOpen);
  const withdrawOpen = () => db.updateTable('account_links').set({ withdrawn_at: clockNow }).where(isOpen);

  return {
    insert: (link, lifeHours) => insert(db, link, lifeHours),

    findOpen: (codeHash) => openOf(codeHash).$call(firstAs(toNamed)),

    lockOpen: (codeHash) => openOf(codeHash).forUpdate('account_links').$call(firstAs(toNamed)),

    use: (id, userId) =>
      db
        .updateTable('account_links')
        .set({ used_at: clockNow, user_id: userId })
        .where('id', '=', id)
        .where(isOpen)
        .$call(changedOne),

    withdraw: (id, kinds) =>
      db
        .updateTable('account_links')
        .set({ withdrawn_at: sql<Date>`coalesce(withdrawn_at, clock_timestamp())` })
        .where('id', '=', id)
        .where('kind', 'in', kinds)
        .where('used_at', 'is', null)
        .$call(changedOne),

    withdrawBy: (userId) => withdrawOpen().where('created_by', '=', userId).$call(run),

    withdrawFor: (userId) => withdrawOpen().where('user_id', '=', userId).$call(run),

    countOpen: () => db.selectFrom('account_links').select(COUNT).where(isOpen).$call(countOf),

    lastReset: (userId) =>
      db
        .selectFrom('account_links')
        .select((eb) => eb.fn.max('used_at').as('at'))
        .where('user_id', '=', userId)
        .where('kind', '<>', 'invitation')
        .$call(onlyAs(({ at }) => at)),

    page: (kinds, request) =>
      named(db)
        .where('account_links.kind', 'in', kinds)
        .$if(request.onlyOpen === true, (query) => query.where(isOpen))
        .$call(pageAs('account_links', request, toNamed)),
  };
}

type Row = Selectable<AccountLinksTable> & {
  readonly creator_name: string;
  readonly account_name: string | null;
  readonly now: Date;
};

const toNamed = (row: Row): NamedLink => ({
  link: toLink(row),
  creatorName: row.creator_name,
  username: row.account_name,
  now: row.now,
});

const linkFields = fromColumns('id createdBy createdAt expiresAt usedAt withdrawnAt');

const toLink = (row: Row): AccountLink => ({ ...linkFields(row), purpose: toPurpose(row) });

function toPurpose(row: Row): LinkPurpose {
  const { kind, role, tier, email, username, user_id, account_ends_at: accountEndsAt } = row;
  if (kind !== 'invitation') return { kind: kind as Exclude<LinkKind, 'invitation'>, userId: user_id ?? '' };
  return {
    kind,
    role: role ?? 'user',
    tier: tier ?? '',
    email,
    username,
    accountEndsAt,
    madeUserId: user_id,
  };
}
