import { type Static, Type } from '@sinclair/typebox';
import { Closed, Nullable, Text } from './common.ts';

const Range = Closed({ min: Type.Integer(), max: Type.Integer() });

const limits = {
  memory_mb: Range,
  cpu_shares: Range,
  disk_mb: Range,
  layer_mb: Type.Integer({ description: 'What a container may write outside /workspace.' }),
  max_containers: Type.Integer(),
  max_agents: Type.Integer(),
};

const ofUse = {
  requests_per_minute: Type.Integer({ description: 'For one user, across all credentials. 0: no limit.' }),
  max_terminals: Type.Integer(),
  max_event_sockets: Type.Integer(),
  max_commands: Type.Integer(),
  max_uploads: Type.Integer(),
  max_downloads: Type.Integer({ description: 'Files, archives, recordings, exports and logs.' }),
};

export const UseLimitsBody = Type.Object(ofUse);
export const TierBody = Type.Object({ name: Type.String(), ...limits, ...ofUse });
export const TierList = Type.Object({ tiers: Type.Array(TierBody) });
export const NewTierRequest = Closed({
  name: Type.String(),
  ...limits,
  layer_mb: Type.Optional(Type.Integer()),
  ...Type.Partial(Type.Object(ofUse)).properties,
});
export const TierChangeRequest = Type.Partial(Closed({ ...limits, ...ofUse }));

const imageFields = {
  label: Type.String(),
  reference: Type.String(),
  shell: Type.String(),
};
const digest = Nullable(
  Type.String({ description: '`sha256:…` pins the image; null: the image that the tag points to.' }),
);

export const ImageBody = Type.Object({ key: Type.String(), ...imageFields, digest });
export const ImageList = Type.Object({ images: Type.Array(ImageBody) });
export const NewImageRequest = Closed({ key: Type.String(), ...imageFields, digest: Type.Optional(digest) });
export const ImageChangeRequest = Type.Partial(Closed({ ...imageFields, digest }));

const names = Type.Optional(Type.Array(Type.String(), { maxItems: 200 }));
const packages = Closed({ apt: names, apk: names, dnf: names });
const script = Nullable(Text({ maxLength: 16_384 }));

/** A role without its script, which only administrators see. */
export const RoleSummary = Type.Object({ key: Type.String(), label: Type.String(), packages });
export const RoleList = Type.Object({ roles: Type.Array(RoleSummary) });
export const RoleBody = Type.Object({ key: Type.String(), label: Type.String(), packages, script });
export const WholeRoleList = Type.Object({ roles: Type.Array(RoleBody) });
export const NewRoleRequest = Closed({
  key: Type.String(),
  label: Type.String(),
  packages: Type.Optional(packages),
  script: Type.Optional(script),
});
export const RoleChangeRequest = Type.Partial(Closed({ label: Type.String(), packages, script }));

export const RemovedEntryBody = Type.Object({ key: Type.String(), deleted: Type.Literal(true) });

export type UseLimitsBody = Static<typeof UseLimitsBody>;
export type TierBody = Static<typeof TierBody>;
export type ImageBody = Static<typeof ImageBody>;
export type RoleSummary = Static<typeof RoleSummary>;
export type RoleBody = Static<typeof RoleBody>;
