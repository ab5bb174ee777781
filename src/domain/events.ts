import type { Container } from './container.ts';

export type EventType =
  | 'container_created'
  | 'container_started'
  | 'container_stopped'
  | 'container_updated'
  | 'container_deleted'
  | 'container_restored';

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
