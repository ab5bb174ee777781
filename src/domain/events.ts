import type { Container } from './containers/container.ts';
import { lastLine } from './containers/role-setup.ts';

export type EventType =
  | 'container_created'
  | 'container_started'
  | 'container_stopped'
  | 'container_updated'
  | 'container_deleted'
  | 'container_progress';

/** How long a client may come back and ask for what it missed. */
export const EVENTS_KEPT_HOURS = 24;
/** Longer, so that of what comes after a kept event nothing is gone. */
export const EVENTS_SWEPT_HOURS = 25;

/** The interface's envelope, with what decides who may see it. */
export type ContainerEvent = {
  readonly type: EventType;
  readonly dbId: string;
  readonly ownerId: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/** The event of a change that has left the container as it is now. `restarted` belongs to updates. */
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

/** An operation has failed, and the container is in the state that it was in before. `reason` is for people. */
export function failedEvent(container: Container, reason: string): ContainerEvent {
  const event = progressEvent(container);
  return { ...event, data: { ...event.data, reason } };
}

/** How far the tools of its role are; of what the installer has said, the last line. */
export function progressEvent(container: Container): ContainerEvent {
  const { status, detail } = container.roleSetup;
  const event = containerEvent('container_progress', container);
  return { ...event, data: { ...event.data, role_setup: { status, detail: lastLine(detail) } } };
}
