import type { Container } from '../../../domain/containers/container.ts';
import type { Activity, ActivityKind } from '../../../domain/containers/lifetime/activity.ts';
import type { Labels } from '../../../domain/containers/lifetime/labels.ts';
import type { LifetimeRequest } from '../../../domain/containers/lifetime/lifetime.ts';
import type { Warned } from '../../../domain/containers/lifetime/lifetime-end.ts';

export type LifetimeChange = LifetimeRequest & {
  readonly isEphemeral?: boolean;
  readonly labels?: Labels;
};

/** A container, the warnings about its end, and the database's time. */
export type LivingContainer = {
  readonly container: Container;
  readonly warned: Warned | null;
  readonly now: Date;
};

export type ContainerUse = { readonly dbId: string; readonly kind: ActivityKind };

/** When containers end by themselves. Every time is the database's. */
export interface LifetimeRepository {
  /** Absent fields stay. Returns the new row; null when there is none. */
  change(dbId: string, change: LifetimeChange): Promise<Container | null>;
  /**
   * After a start: limits the end, the idle time and the time to keep it to what the tier of its owner allows from now.
   * Returns the new row; null when that tier has no limit, and for an agent.
   */
  limitToTier(dbId: string): Promise<Container | null>;
  /** Live containers outside of operations that may end within this time, or should have ended. */
  listEnding(withinSeconds: number): Promise<readonly LivingContainer[]>;
  /** Waits for a transaction that changes the row, and has the row until the end of its own. */
  findForUpdate(dbId: string): Promise<LivingContainer | null>;
  /**
   * Records a warning about an end, a whole number of seconds before it; false when it was given before, or the container
   * has changed since.
   */
  markWarned(dbId: string, end: Date, leadSeconds: number): Promise<boolean>;
  /** Records uses as of now, of containers with an idle time. */
  noteUses(uses: readonly ContainerUse[]): Promise<void>;
  /** The last use of each kind, the newest first. */
  activity(dbId: string): Promise<readonly Activity[]>;
}
