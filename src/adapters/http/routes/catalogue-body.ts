import type { Static } from '@sinclair/typebox';
import type { Image, Role } from '../../../domain/catalogue.ts';
import type { Range, Tier } from '../../../domain/resources.ts';
import type {
  NewImageRequest,
  NewRoleRequest,
  NewTierRequest,
  RoleBody,
  RoleSummary,
  TierBody,
  TierChangeRequest,
} from '../schema/catalogue.ts';

const range = ({ min, max }: Range) => ({ min, max });

/** A tier on the wire. `cpu_shares` is the interface's word for millicores. */
export const toTierBody = (tier: Tier): TierBody => ({
  name: tier.name,
  memory_mb: range(tier.memoryMb),
  cpu_shares: range(tier.cpuMillicores),
  disk_mb: range(tier.diskMb),
  max_containers: tier.maxContainers,
  max_agents: tier.maxAgents,
});

export const toTier = (body: Static<typeof NewTierRequest>): Tier => ({
  name: body.name,
  memoryMb: body.memory_mb,
  cpuMillicores: body.cpu_shares,
  diskMb: body.disk_mb,
  maxContainers: body.max_containers,
  maxAgents: body.max_agents,
});

export const toTierChange = (body: Static<typeof TierChangeRequest>): Partial<Tier> => ({
  ...(body.memory_mb === undefined ? {} : { memoryMb: body.memory_mb }),
  ...(body.cpu_shares === undefined ? {} : { cpuMillicores: body.cpu_shares }),
  ...(body.disk_mb === undefined ? {} : { diskMb: body.disk_mb }),
  ...(body.max_containers === undefined ? {} : { maxContainers: body.max_containers }),
  ...(body.max_agents === undefined ? {} : { maxAgents: body.max_agents }),
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
