import type { Schemas } from '../request/api.ts';

/** A container's change, as the service sends it. */
export type ContainerEvent = {
  /** Such as `container_started`; docs/events.md lists them. */
  readonly type: `${'agent' | 'container' | 'snapshot'}_${string}`;
  /** The position in the stream, to resume after it. */
  readonly id: string;
  /** ISO 8601. */
  readonly time: string;
  readonly data: {
    /** The runtime id; null before the engine has made one. */
    readonly id: string | null;
    readonly db_id: string;
    readonly name: string;
    readonly status: string;
    /** Of `container_updated`. */
    readonly resources?: Schemas['Resources'];
    readonly restarted?: boolean;
    /** Of `snapshot_created`, `snapshot_deleted` and `snapshot_restored`. */
    readonly snapshot?: { readonly id: string; readonly name: string; readonly status: string };
    /** Of `container_progress`. */
    readonly role_setup?: Schemas['RoleSetup'];
    /** Of `container_ending`: when it ends, in ISO 8601. */
    readonly ends_at?: string;
    /** Of `container_ending`. */
    readonly action?: 'stop' | 'delete';
    /** Why an operation failed, why the container ends, or what an administrator did. */
    readonly reason?: string;
    /** Present when an administrator requested the change, not the owner. */
    readonly by?: 'administrator';
    /** Of `container_transferred`, which the former owner gets: the new one. */
    readonly owner?: { readonly id: string; readonly username: string };
  };
};

/** A change of the user's own account or its sign-ins, by the user or by an administrator. */
export type AccountEvent = {
  readonly type: 'account_updated';
  readonly id: string;
  /** ISO 8601. */
  readonly time: string;
  readonly data: {
    readonly id: string;
    readonly name: string;
    readonly status: 'enabled';
    readonly role: 'user' | 'admin';
    readonly tier: string;
    /** Such as `role` or `password_reset`; docs/events.md lists them. */
    readonly change: string;
  };
};

type OfService<T extends string, D> = {
  readonly type: T;
  readonly id: string;
  /** ISO 8601. */
  readonly time: string;
  readonly data: D;
};

export type AnnouncementEvent = OfService<
  'announcement_changed',
  {
    readonly id: string;
    /** The text; absent unless it is shown now. */
    readonly name?: string;
    readonly status: 'created' | 'updated' | 'deleted';
    /** Absent with the text. */
    readonly severity?: 'info' | 'warning';
  }
>;

/** For administrators: a component of the service failed, or is back. */
export type HealthEvent = OfService<
  'health_changed',
  {
    readonly id: string;
    /** Such as `engine`. */
    readonly name: string;
    readonly status: 'ready' | 'degraded' | 'down';
    readonly reason: string;
    /** ISO 8601. */
    readonly from: string;
    /** ISO 8601; null while it lasts. */
    readonly to: string | null;
  }
>;

/** A change of the service itself. */
export type ServiceEvent = AnnouncementEvent | HealthEvent;

/** Whatever the service sends. */
export type Event = ContainerEvent | AccountEvent | ServiceEvent;

/** Events were missed: read the list again. */
export type Resync = { readonly type: 'resync' };

export const RESYNC: Resync = { type: 'resync' };
