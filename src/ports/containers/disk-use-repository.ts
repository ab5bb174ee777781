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
  /** Running containers whose last claimed measurement is older than this; claims them. */
  claimDue(seconds: number): Promise<readonly Container[]>;
}
