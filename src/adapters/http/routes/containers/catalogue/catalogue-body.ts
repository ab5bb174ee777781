import type { Static } from '@sinclair/typebox';
import type { Image, Role } from '../../../../../domain/containers/catalogue.ts';
import type { Range, Tier } from '../../../../../domain/containers/resources.ts';
import { DEFAULT_USE_LIMITS, type UseLimits } from '../../../../../domain/identity/use-limits.ts';
import type {
  NewImageRequest,
  NewRoleRequest,
  NewTierRequest,
  RoleBody,
  RoleSummary,
  TierBody,
  TierChangeRequest,
  UseLimitsBody,
} from '../../../schema/containers/catalogue.ts';

/** Of a new tier without them: those of tier `free`. */
const DEFAULTS = { layerMb: 2048, maxSnapshots: 5, snapshotMb: 10_240 };

const range = ({ min, max }: Range) => ({ min, max });

export const toUseLimitsBody = (limits: UseLimits): UseLimitsBody => ({
  requests_per_minute: limits.requestsPerMinute,
  max_terminals: limits.maxTerminals,
  max_event_sockets: limits.maxEventSockets,
  max_commands: limits.maxCommands,
  max_uploads: limits.maxUploads,
  max_downloads: limits.maxDownloads,
});

const toUseLimitsChange = (body: Partial<UseLimitsBody>): Partial<UseLimits> => ({
  ...(body.requests_per_minute === undefined ? {} : { requestsPerMinute: body.requests_per_minute }),
  ...(body.max_terminals === undefined ? {} : { maxTerminals: body.max_terminals }),
  ...(body.max_event_sockets === undefined ? {} : { maxEventSockets: body.max_event_sockets }),
  ...(body.max_commands === undefined ? {} : { maxCommands: body.max_commands }),
  ...(body.max_uploads === undefined ? {} : { maxUploads: body.max_uploads }),
  ...(body.max_downloads === undefined ? {} : { maxDownloads: body.max_downloads }),
});

/** `cpu_shares` is the interface's word for millicores. */
export const toTierBody = (tier: Tier): TierBody => ({
  name: tier.name,
  memory_mb: range(tier.memoryMb),
  cpu_shares: range(tier.cpuMillicores),
  disk_mb: range(tier.diskMb),
  layer_mb: tier.layerMb,
  max_containers: tier.maxContainers,
  max_agents: tier.maxAgents,
  max_snapshots: tier.maxSnapshots,
  snapshot_mb: tier.snapshotMb,
  max_ttl_seconds: tier.maxTtlSeconds,
  max_idle_seconds: tier.maxIdleSeconds,
  ...toUseLimitsBody(tier),
});

export const toTier = (body: Static<typeof NewTierRequest>): Tier => ({
  name: body.name,
  memoryMb: body.memory_mb,
  cpuMillicores: body.cpu_shares,
  diskMb: body.disk_mb,
  layerMb: body.layer_mb ?? DEFAULTS.layerMb,
  maxContainers: body.max_containers,
  maxAgents: body.max_agents,
  maxSnapshots: body.max_snapshots ?? DEFAULTS.maxSnapshots,
  snapshotMb: body.snapshot_mb ?? DEFAULTS.snapshotMb,
  maxTtlSeconds: body.max_ttl_seconds ?? 0,
  maxIdleSeconds: body.max_idle_seconds ?? 0,
  ...DEFAULT_USE_LIMITS,
  ...toUseLimitsChange(body),
});

export const toTierChange = (body: Static<typeof TierChangeRequest>): Partial<Tier> => ({
  ...(body.memory_mb === undefined ? {} : { memoryMb: body.memory_mb }),
  ...(body.cpu_shares === undefined ? {} : { cpuMillicores: body.cpu_shares }),
  ...(body.disk_mb === undefined ? {} : { diskMb: body.disk_mb }),
  ...(body.layer_mb === undefined ? {} : { layerMb: body.layer_mb }),
  ...(body.max_containers === undefined ? {} : { maxContainers: body.max_containers }),
  ...(body.max_agents === undefined ? {} : { maxAgents: body.max_agents }),
  ...(body.max_snapshots === undefined ? {} : { maxSnapshots: body.max_snapshots }),
  ...(body.snapshot_mb === undefined ? {} : { snapshotMb: body.snapshot_mb }),
  ...(body.max_ttl_seconds === undefined ? {} : { maxTtlSeconds: body.max_ttl_seconds }),
  ...(body.max_idle_seconds === undefined ? {} : { maxIdleSeconds: body.max_idle_seconds }),
  ...toUseLimitsChange(body),
});

export const toImage = (body: Static<typeof NewImageRequest>): Image => ({ digest: null, ...body });

export const toRole = (body: Static<typeof NewRoleRequest>): Role => ({
  packages: {},
  script: null,
  ...body,
});

const packagesOf = ({ packages }: Role): RoleSummary['packages'] =>
  Object.fromEntries(Object.entries(packages).map(([manager, names]) => [manager, [...names]]));

export const toRoleSummary = (role: Role): RoleSummary => ({
  key: role.key,
  label: role.label,
  packages: packagesOf(role),
});

export const toRoleBody = (role: Role): RoleBody => ({ ...toRoleSummary(role), script: role.script });
