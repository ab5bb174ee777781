import type { AuditAction, AuditEntry } from '../../../domain/audit.ts';
import { detailsOfAct, isByAdministrator } from '../../../domain/containers/administration/administration.ts';
import type { Container } from '../../../domain/containers/container.ts';
import type { OperationKind } from '../../../domain/containers/operation.ts';
import {
  byAdministrator,
  type ContainerEvent,
  containerEvent,
  type EventType,
  withReason,
} from '../../../domain/events.ts';
import type { StateChange } from '../../../ports/containers/container-repository.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';

type Records = { readonly audit: AuditAction; readonly event: EventType };

const both = <T extends EventType & AuditAction>(name: T): Records => ({ audit: name, event: name });

type AnnouncedKind = Exclude<OperationKind, 'snapshot' | 'transfer'>;
export type AnnouncedOperation = StoredOperation & { readonly kind: AnnouncedKind };

/** For subscribers a restored container is a new one. */
const RECORDS: { readonly [K in AnnouncedKind]: Records } = {
  create: both('container_created'),
  start: both('container_started'),
  stop: both('container_stopped'),
  update: both('container_updated'),
  delete: both('container_deleted'),
  restore: { audit: 'container_restored', event: 'container_created' },
};

/** What the audit and the subscribers get of an outcome. */
export type Announcement = { readonly entry: AuditEntry; readonly event: ContainerEvent };

/** Of an operation that leaves the container like this. */
export function announcementOf(
  operation: AnnouncedOperation,
  container: Container,
  restarted: boolean,
): Announcement {
  const { kind, requestedBy, reason } = operation;
  const { audit, event } = RECORDS[kind];
  const announced = withReason(containerEvent(event, container, restarted), reason);
  const isForeign = isByAdministrator(requestedBy, container);
  return {
    entry: auditEntry(operation, audit, container),
    event: isForeign ? byAdministrator(announced) : announced,
  };
}

/** Who has done it, with the container's name and owner when that is another one. */
export function auditEntry(
  { requestedBy, origin, dbId }: StoredOperation,
  action: AuditAction,
  container: Container,
): AuditEntry {
  const details = isByAdministrator(requestedBy, container) ? detailsOfAct(container) : dbId;
  return { userId: requestedBy, action, ...origin, details };
}

export const announce = async (tx: Repositories, { entry, event }: Announcement): Promise<void> =>
  void (await Promise.all([tx.audit.append(entry), tx.events.append(event)]));

/** The row after a change, as far as announcements show it. */
export const foreseen = (row: Container, { state, runtimeId, name, resources }: StateChange): Container => ({
  ...row,
  state,
  runtimeId: runtimeId ?? row.runtimeId,
  name: name ?? row.name,
  resources: resources ?? row.resources,
});

/** The row had changed since it was read, so that something else must be announced. */
export class UnforeseenRow extends Error {
  override name = 'UnforeseenRow';
}

/** Throws `UnforeseenRow`, which rolls back what was written. */
export function checkAnnounced(announced: Announcement, actual: Announcement): void {
  if (JSON.stringify(announced) !== JSON.stringify(actual))
    throw new UnforeseenRow('the row of a container has changed');
}
