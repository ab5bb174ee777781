import type { Selectable } from 'kysely';
import { DEFAULT_SETTINGS } from '../../../domain/settings.ts';
import type { UseLimitsRow } from '../schema/database-schema.ts';
import type { UsersTable } from '../schema/identity-tables.ts';
import { toUseLimits } from '../shared-columns.ts';
import { fromJson } from '../sql.ts';
import { toUser } from './user-repository.ts';

/** Columns beside a credential's own: its user, as JSON, and what limits the user's requests. */
export type OwnerColumns = {
  readonly user: Selectable<UsersTable>;
  readonly now: Date;
  readonly requests_per_minute: number | null;
  readonly tier: UseLimitsRow;
};

export const toOwner = ({ user, now, requests_per_minute: perMinute, tier }: OwnerColumns) => ({
  user: toUser(fromJson(user)),
  now,
  requestsPerMinute: perMinute ?? DEFAULT_SETTINGS.requestsPerMinute,
  limits: toUseLimits(tier),
});
