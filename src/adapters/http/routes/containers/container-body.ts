import type { Static } from '@sinclair/typebox';
import type { Started } from '../../../../app/containers/container-lifecycle.ts';
import type { CreateRequest } from '../../../../app/containers/create-container.ts';
import type { DeletedContainer } from '../../../../app/containers/retention/deleted-containers.ts';
import type { Updated, UpdateRequest } from '../../../../app/containers/update-container.ts';
import type { Container } from '../../../../domain/containers/container.ts';
import type { VisibleContainer } from '../../../../ports/terminals/shared-container-repository.ts';
import type {
  ContainerBody,
  CreateContainerRequest,
  StartedBody,
  UnderWayBody,
  UpdateContainerRequest,
  UpdatedBody,
} from '../../schema/containers/containers.ts';
import { serializeChanges } from './inside/insight.ts';
import { toLifetimeRequest, toLifetimeSummary } from './lifetime-body.ts';

/** `cpu_shares` is the interface's word for millicores. */
export const toContainerBody = (container: Container): ContainerBody => ({
  id: container.runtimeId,
  db_id: container.dbId,
  name: container.name,
  image: container.image,
  status: container.state,
  status_reason: container.stateReason,
  role: container.role,
  resources: {
    memory_mb: container.resources.memoryMb,
    cpu_shares: container.resources.cpuMillicores,
    disk_mb: container.resources.diskMb,
  },
  created_at: container.createdAt.toISOString(),
  last_used_at: container.lastUsedAt?.toISOString() ?? null,
  started_at: container.startedAt?.toISOString() ?? null,
  volume: {
    name: container.volume,
    size_mb: container.resources.diskMb,
    used_mb: container.diskUsedMb,
    quota: container.diskQuota,
  },
  layer: { limit_mb: container.layerAllowedMb, used_mb: container.layerUsedMb },
  owner: { id: container.ownerId, username: container.ownerUsername },
  role_setup: { status: container.roleSetup.status, detail: container.roleSetup.detail },
  labels: container.labels,
  lifetime: toLifetimeSummary(container),
  ...(container.agent === undefined
    ? {}
    : {
        agent: {
          platform: container.agent.platform,
          last_seen_at: container.agent.lastSeenAt.toISOString(),
        },
      }),
});

export const toStoppedBody = ({ runtimeId: id, name }: Container) => ({
  message: 'container stopped',
  id,
  name,
  status: 'stopped',
});

export const toRemovedBody = ({ runtimeId: id, dbId, name }: Container) => ({
  message: 'container deleted',
  id,
  db_id: dbId,
  name,
});

/** A shared container includes the share. */
export const toVisibleBody = ({ container, access }: VisibleContainer): ContainerBody => ({
  ...toContainerBody(container),
  ...(access === null ? {} : { collaboration: { id: access.collaborationId, mode: access.mode } }),
});

/** A deleted container that can be restored. */
export const toDeletedBody = ({ container, keptUntil, keepsInstalled }: DeletedContainer): ContainerBody => ({
  ...toContainerBody(container),
  ...(container.deletedAt === null ? {} : { deleted_at: container.deletedAt.toISOString() }),
  kept_until: keptUntil.toISOString(),
  keeps_installed: keepsInstalled,
});

export const toCreateRequest = (body: CreateContainerRequest): CreateRequest => ({
  ...(body.name === undefined ? {} : { name: body.name }),
  ...(body.snapshot_id === undefined ? {} : { snapshotId: body.snapshot_id }),
  ...(body.image === undefined ? {} : { image: body.image }),
  ...(body.role === undefined ? {} : { role: body.role }),
  ...(body.memory_mb === undefined ? {} : { memoryMb: body.memory_mb }),
  ...(body.cpu_shares === undefined ? {} : { cpuMillicores: body.cpu_shares }),
  ...(body.disk_mb === undefined ? {} : { diskMb: body.disk_mb }),
  ...(body.env === undefined ? {} : { env: body.env }),
  ...(body.labels === undefined ? {} : { labels: body.labels }),
  isEphemeral: body.ephemeral ?? false,
  lifetime: toLifetimeRequest(body),
});

export const toUpdateRequest = (body: UpdateContainerRequest): UpdateRequest => ({
  name: body.name,
  resources: { memoryMb: body.memory_mb, cpuMillicores: body.cpu_shares, diskMb: body.disk_mb },
  carryOver: body.carry_over ?? false,
});

export const toUnderWayBody = (container: Container): Static<typeof UnderWayBody> => ({
  ...toContainerBody(container),
  message: 'still working on it',
});

/** `left_behind` is present only when something may have been lost; null when unknown. */
export const toUpdatedBody = ({ container, restarted, leftBehind }: Updated): Static<typeof UpdatedBody> => ({
  message: 'settings updated',
  restarted,
  container: toContainerBody(container),
  ...(leftBehind === undefined ? {} : { left_behind: leftBehind && serializeChanges(leftBehind) }),
});

/** `old_id`, `recreated` and `volume_kept` are present only after a recreate. */
export const toStartedBody = ({ container, recreated }: Started): StartedBody => ({
  message: recreated === null ? 'container started' : 'container recreated and started',
  id: container.runtimeId,
  name: container.name,
  status: 'running',
  ...(recreated === null
    ? {}
    : { old_id: recreated.oldId, recreated: true, volume_kept: recreated.volumeKept }),
});
