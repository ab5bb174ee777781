import type { Container } from '../../domain/containers/container.ts';
import type { Quota } from '../../domain/containers/disk-quota.ts';

export type DiskFindings = {
  readonly quota?: Quota;
  readonly usedMb?: number | null;
  readonly layerUsedMb?: number;
};

export interface DiskUseRepository {
  /** Absent fields stay. */
  record(dbId: string, disk: DiskFindings): Promise<void>;
  /** At most `count` running containers whose last claimed measurement is older than this, the oldest first; claims them. */
  claimDue(seconds: number, count: number): Promise<readonly Container[]>;
}
