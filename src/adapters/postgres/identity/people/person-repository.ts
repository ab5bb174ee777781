import { type Selectable, sql } from 'kysely';
import { AGENT_NODE } from '../../../../domain/containers/agents/agent.ts';
import { isUuid } from '../../../../domain/uuid.ts';
import type { Person, PersonRepository } from '../../../../ports/identity/people/person-repository.ts';
import { fromColumns } from '../../columns.ts';
import { pageAs } from '../../pagination.ts';
import type { Db } from '../../schema/database-schema.ts';
import type { UsersTable } from '../../schema/identity-tables.ts';
import { allAs, clockNow, containing, firstAs } from '../../sql.ts';
import { toUser } from '../user-repository.ts';

const facts = [
  sql<Date | null>`greatest(
    (select max(s.last_seen_at) from sessions s where s.user_id = users.id),
    (select max(t.last_used_at) from api_tokens t where t.user_id = users.id))`.as('seen_at'),
  sql<number>`(select count(*)::int from containers c where c.owner_id = users.id
    and c.state <> 'deleted' and c.node <> ${AGENT_NODE})`.as('container_count'),
  sql<number>`(select t.max_containers from tiers t where t.name = users.tier)`.as('max_containers'),
  sql<boolean>`exists (select from totp_factors f where f.user_id = users.id and f.confirmed_at is not null)`.as(
    'mfa_enabled',
  ),
  sql<boolean>`exists (select from user_removals r where r.user_id = users.id)`.as('is_being_deleted'),
] as const;

export function postgresPeople(db: Db): PersonRepository {
  const people = () => db.selectFrom('users').selectAll().select(facts).where('deleted_at', 'is', null);
  return {
    page: (request, { role, tier, search } = {}) =>
      people()
        .$if(role !== undefined, (query) => query.where('role', '=', role ?? 'user'))
        .$if(tier !== undefined, (query) => query.where('tier', '=', tier ?? ''))
        .$if(search !== undefined, (query) =>
          query.where((eb) =>
            eb.or([
              eb('username', 'ilike', containing(search ?? '')),
              eb('email', 'ilike', containing(search ?? '')),
              ...(isUuid(search ?? '') ? [eb('id', '=', (search ?? '').toLowerCase())] : []),
            ]),
          ),
        )
        .$call(pageAs('users', request, toPerson)),

    find: (id) => people().where('id', '=', id).$call(firstAs(toPerson)),

    async freeUsernames(names) {
      const lower = sql<string>`lower(username)`;
      const asked = names.map((name) => name.toLowerCase());
      const taken = await db
        .selectFrom('users')
        .select(lower.as('name'))
        .where(lower, 'in', asked)
        .where('deleted_at', 'is', null)
        .$call(allAs(({ name }) => name));
      return names.filter((name) => !taken.includes(name.toLowerCase()));
    },

    ended: (after, limit) =>
      db
        .selectFrom('users')
        .select('id')
        .where('ends_at', '<=', clockNow)
        .where('disabled_at', 'is', null)
        .$if(after !== null, (query) => query.where('id', '>', after))
        .orderBy('id')
        .limit(limit)
        .$call(allAs(({ id }) => id)),
  };
}

type Row = Selectable<UsersTable> & {
  readonly seen_at: Date | null;
  readonly container_count: number;
  readonly max_containers: number;
  readonly mfa_enabled: boolean;
  readonly is_being_deleted: boolean;
};

const personFields = fromColumns('disabledReason maxContainers mfaEnabled isBeingDeleted');

const toPerson = (row: Row): Person => ({
  ...personFields(row),
  user: toUser(row),
  lastSeenAt: row.seen_at,
  containers: row.container_count,
  hasPassword: row.password_hash !== null,
});
