import type { Container } from './containers/container.ts';
import type { LifetimeEnd } from './containers/lifetime/lifetime-end.ts';
import { lastLine } from './containers/role-setup.ts';
import type { Snapshot } from './containers/snapshots/snapshot.ts';
import type { User } from './identity/user.ts';
import { type Announcement, announcementState } from './service/announcement.ts';
import type { Outage } from './service/health.ts';

export type EventType =
  | 'container_created'
  | 'container_started'
  | 'container_stopped'
  | 'container_updated'
  | 'container_deleted'
  | 'container_purged'
  | 'container_transferred'
  | 'container_progress'
  | 'container_ending'
  | 'account_updated'
  | 'snapshot_created'
  | 'snapshot_deleted'
  | 'snapshot_restored'
  | 'announcement_changed'
  | 'health_changed'
  | 'agent_connected'
  | 'agent_disconnected';

/** How long a client may return and resume. */
export const EVENTS_KEPT_HOURS = 24;
/** Longer, so that nothing after a kept event is missing. */
export const EVENTS_SWEPT_HOURS = 25;

/** Who sees an event that is about no container and no account. */
export type EventAudience = 'everybody' | 'administrators';

/** The event as sent, and who may see it. `dbId`: of its subject: a container, a user, an announcement. */
export type ContainerEvent = {
  readonly type: EventType;
  readonly dbId: string;
  /** null when it is the service's own: `audience` says who sees it. */
  readonly ownerId: string | null;
  readonly audience?: EventAudience;
  readonly data: Readonly<Record<string, unknown>>;
};

/** The event of a change, from the container's new state. `restarted` belongs to updates. */
export function containerEvent(type: EventType, container: Container, restarted?: boolean): ContainerEvent {
  const { dbId, ownerId, runtimeId, name, state, resources } = container;
  const updated = {
    resources: {
      memory_mb: resources.memoryMb,
      cpu_shares: resources.cpuMillicores,
      disk_mb: resources.diskMb,
    },
    restarted: restarted ?? false,
  };
  const data = { id: runtimeId, db_id: dbId, name, status: state };
  return { type, dbId, ownerId, data: type === 'container_updated' ? { ...data, ...updated } : data };
}

/** The same event with the reason of the change; a request has none. `reason` is for people. */
export const withReason = (event: ContainerEvent, reason: string | null): ContainerEvent =>
  reason === null ? event : { ...event, data: { ...event.data, reason } };

/** The same event of a change that an administrator requested for the owner's container. */
export const byAdministrator = (event: ContainerEvent): ContainerEvent => ({
  ...event,
  data: { ...event.data, by: 'administrator' },
});

/** For the former owner, who no longer sees the container. `requestedBy` is nobody's, or an administrator's id. */
export function transferredEvent(
  before: Container,
  { ownerId, ownerUsername }: Container,
  requestedBy: string | null,
): ContainerEvent {
  const event = containerEvent('container_transferred', before);
  const reason = `an administrator gave it to ${ownerUsername}`;
  const data = { ...event.data, owner: { id: ownerId, username: ownerUsername } };
  if (requestedBy === before.ownerId) return { ...event, data };
  return byAdministrator(withReason({ ...event, data }, reason));
}

/** For the new owner, who sees it from now on. */
export const receivedEvent = (container: Container): ContainerEvent =>
  byAdministrator(
    withReason(containerEvent('container_created', container), 'an administrator gave it to you'),
  );

/** The warning before a container ends by itself. `reason` is for people. */
export function endingEvent(
  container: Container,
  { at, action }: LifetimeEnd,
  reason: string,
): ContainerEvent {
  const event = containerEvent('container_ending', container);
  return { ...event, data: { ...event.data, ends_at: at.toISOString(), action, reason } };
}

/** What changed about an account, for its user. */
export const ACCOUNT_CHANGES = [
  'role',
  'tier',
  'enabled',
  'end',
  'reset_link_created',
  'password_reset',
  'second_factor_reset',
  'sign_in_connected',
  'sign_in_disconnected',
] as const;

export type AccountChange = (typeof ACCOUNT_CHANGES)[number];

/** The event of a change to a user's account: by an administrator or their link, or of its connected sign-ins. */
export function accountEvent({ id, username, role, tier }: User, change: AccountChange): ContainerEvent {
  const data = { id, name: username, status: 'enabled', role, tier, change };
  return { type: 'account_updated', dbId: id, ownerId: id, data };
}

/** The event of an outage's start or end, for administrators. What else is known of it they read from the history. */
export const healthEvent = ({ id, component, state, reason, from, to }: Outage): ContainerEvent => ({
  type: 'health_changed',
  dbId: id,
  ownerId: null,
  audience: 'administrators',
  data: {
    id,
    name: component,
    status: to === null ? state : 'ready',
    reason,
    from: from.toISOString(),
    to: to?.toISOString() ?? null,
  },
});

export type AnnouncementStatus = 'created' | 'updated' | 'deleted';

/** The event of an announcement, for everybody: without its text when nobody may read it now. */
export function announcementEvent(
  announcement: Announcement,
  status: AnnouncementStatus,
  now: Date,
): ContainerEvent {
  const { id, text, severity } = announcement;
  const isShown = announcementState(announcement, now) === 'current';
  return {
    type: 'announcement_changed',
    dbId: id,
    ownerId: null,
    audience: 'everybody',
    data: isShown ? { id, name: text, status, severity } : { id, status },
  };
}

/** The event of a failed operation, with the container back in its previous state. `reason` is for people. */
export const failedEvent = (container: Container, reason: string | null): ContainerEvent =>
  withReason(progressEvent(container), reason);

/**
 * A snapshot's event, for those who see its container. Where the container is gone or another user's, the event is about
 * the snapshot: its owner alone sees it.
 */
export function snapshotEvent(
  type: 'snapshot_created' | 'snapshot_deleted' | 'snapshot_restored',
  container: Pick<Container, 'ownerId' | 'runtimeId' | 'name' | 'state'> | null,
  { id, ownerId, dbId, containerName, name, state }: Snapshot,
): ContainerEvent {
  const snapshot = { id, name, status: type === 'snapshot_deleted' ? 'deleted' : state };
  if (container?.ownerId !== ownerId) {
    const gone = { id: null, db_id: dbId, name: containerName, status: 'deleted' };
    return { type, dbId: id, ownerId, data: { ...gone, snapshot } };
  }
  const of = { id: container.runtimeId, db_id: dbId, name: container.name, status: container.state };
  return { type, dbId, ownerId, data: { ...of, snapshot } };
}

/** The event of a role setup's progress, with the installer's last line. */
export function progressEvent(container: Container): ContainerEvent {
  const { status, detail } = container.roleSetup;
  const event = containerEvent('container_progress', container);
  return { ...event, data: { ...event.data, role_setup: { status, detail: lastLine(detail) } } };
}
