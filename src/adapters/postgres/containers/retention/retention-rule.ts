import { sql } from 'kysely';
import {
  CLAIM_MINUTES,
  CONDEMNED_HOURS,
  GUEST_KEEPS_MINUTES,
} from '../../../../domain/containers/volume-retention.ts';

type Retained = { readonly table: string; readonly prefix?: string };

/**
 * `volumeDue` of volume-retention.ts as conditions on a table, for volumes of containers and of snapshots. The contract
 * tests compare both. `prefix`: of the columns of the volume.
 */
export function retentionRule({ table, prefix = '' }: Retained) {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  const deletedAt = column('deleted_at');
  const condemnedAt = column(`${prefix}condemned_at`);
  const claimedAt = column(`${prefix}claimed_at`);

  const isFree = sql<boolean>`(${claimedAt} is null or ${claimedAt} <= ${ago('mins', CLAIM_MINUTES)})`;

  const isOver = (retentionDays: number) => sql<boolean>`${deletedAt} <= ${ago('days', retentionDays)}`;

  return {
    /** Due to be condemned. */
    isToCondemn: (retentionDays: number) =>
      sql<boolean>`(${isOver(retentionDays)} and ${condemnedAt} is null)`,

    /** Condemned, and kept longer since; not once its removal has begun, even if that failed: it may be gone. */
    isToSpare: (retentionDays: number) =>
      sql<boolean>`(not ${isOver(retentionDays)} and ${condemnedAt} is not null and ${claimedAt} is null)`,

    /** Due to be removed, and no process does it. */
    isToRemove: (retentionDays: number) => sql<boolean>`(
      (${column(`${prefix}purged_at`)} is not null
        or (${isOver(retentionDays)} and ${condemnedAt} <= ${ago('hours', CONDEMNED_HOURS)})
        or (${deletedAt} <= ${ago('mins', GUEST_KEEPS_MINUTES)}
          and ${column('owner_id')} in (select id from users where guest_until is not null)))
      and ${isFree})`,
  };
}

const ago = (unit: 'days' | 'hours' | 'mins', count: number) =>
  sql<Date>`clock_timestamp() - make_interval(${sql.raw(unit)} => ${count})`;
