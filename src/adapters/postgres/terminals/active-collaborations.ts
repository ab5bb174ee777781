import { sql } from 'kysely';

/** `u`: the owner. What they may not open themselves nobody opens by their leave. */
export const mayOwn = sql<boolean>`u.disabled_at is null and (u.guest_until is null or u.guest_until > now())`;

/** `k`: the collaboration. */
export const isLive = sql<boolean>`k.ended_at is null and k.expires_at > now()
  and exists (
    select from containers c join users u on u.id = c.owner_id
    where c.db_id = k.db_id and c.state <> 'deleted' and ${mayOwn})`;
