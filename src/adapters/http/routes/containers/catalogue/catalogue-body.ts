import type { Static } from '@sinclair/typebox';
import type { Image, Role } from '../../../../../domain/containers/catalogue.ts';
import type { Tier } from '../../../../../domain/containers/resources.ts';
import { DEFAULT_USE_LIMITS } from '../../../../../domain/identity/use-limits.ts';
import { bodyOf, fieldsOf, withCpuShares } from '../../../replies/bodies.ts';
import {
  type NewImageRequest,
  type NewRoleRequest,
  type NewTierRequest,
  type RoleBody,
  type RoleSummary,
  TierBody,
  type TierChangeRequest,
} from '../../../schema/containers/catalogue.ts';

/** Of a new tier without them: those of tier `free`. */
const DEFAULTS = { layerMb: 2048, maxSnapshots: 5, snapshotMb: 10_240, maxTtlSeconds: 0, maxIdleSeconds: 0 };

const serializeTier = bodyOf(TierBody);

export const toTierBody = (tier: Tier) => serializeTier(withCpuShares(tier));

export const toTier = (body: Static<typeof NewTierRequest>): Tier => {
  const { name, memoryMb, cpuShares: cpuMillicores, diskMb, ...fields } = fieldsOf(body);
  return { name, memoryMb, cpuMillicores, diskMb, ...DEFAULTS, ...DEFAULT_USE_LIMITS, ...fields };
};

export const toTierChange = (body: Static<typeof TierChangeRequest>): Partial<Tier> => {
  const { cpuShares: cpuMillicores, ...fields } = fieldsOf(body);
  return { ...fields, ...(cpuMillicores === undefined ? {} : { cpuMillicores }) };
};

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
