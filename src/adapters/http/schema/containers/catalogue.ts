import { type Static, Type } from '@sinclair/typebox';
import { Closed, Named, NamedClosed, NamedObject, Nullable, Text } from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';

const Range = NamedClosed('Range', { min: Type.Integer(), max: Type.Integer() });

const limits = {
  memory_mb: Range,
  cpu_shares: Range,
  disk_mb: Range,
  layer_mb: Type.Integer({ description: 'What a container may write outside /workspace.' }),
  max_containers: Type.Integer(),
  max_agents: Type.Integer(),
  max_snapshots: Type.Integer(),
  snapshot_mb: Type.Integer({ description: 'The disk that the snapshots of a user may use together.' }),
  max_ttl_seconds: Type.Integer({ description: 'A container ends so long after a start. 0: no limit.' }),
  max_idle_seconds: Type.Integer({ description: 'A container ends after so long without use. 0: no limit.' }),
};

const ofUse = {
  requests_per_minute: Type.Integer({
    description: 'For one user: of all sessions, and again of all API tokens and SSH keys. 0: no limit.',
  }),
  max_terminals: Type.Integer(),
  max_event_sockets: Type.Integer(),
  max_commands: Type.Integer(),
  max_uploads: Type.Integer(),
  max_downloads: Type.Integer({ description: 'Files, archives, recordings, exports and logs.' }),
};

export const UseLimitsBody = NamedObject('UseLimits', ofUse);
export const TierBody = NamedObject('Tier', { name: Type.String(), ...limits, ...ofUse });
export const TierList = NamedObject('TierList', { tiers: Type.Array(TierBody), next_cursor: nextCursor });
export const NewTierRequest = NamedClosed('NewTierRequest', {
  name: Type.String(),
  ...limits,
  layer_mb: Type.Optional(Type.Integer()),
  max_snapshots: Type.Optional(Type.Integer()),
  snapshot_mb: Type.Optional(Type.Integer()),
  max_ttl_seconds: Type.Optional(Type.Integer()),
  max_idle_seconds: Type.Optional(Type.Integer()),
  ...Type.Partial(Type.Object(ofUse)).properties,
});
export const TierChangeRequest = Named('TierChangeRequest', Type.Partial(Closed({ ...limits, ...ofUse })));

const imageFields = {
  label: Type.String(),
  reference: Type.String(),
  shell: Type.String(),
};
const digest = Nullable(
  Type.String({ description: '`sha256:…` pins the image; null: the image that the tag points to.' }),
);

export const ImageBody = NamedObject('Image', { key: Type.String(), ...imageFields, digest });
export const ImageList = NamedObject('ImageList', { images: Type.Array(ImageBody), next_cursor: nextCursor });
export const NewImageRequest = NamedClosed('NewImageRequest', {
  key: Type.String(),
  ...imageFields,
  digest: Type.Optional(digest),
});
export const ImageChangeRequest = Named(
  'ImageChangeRequest',
  Type.Partial(Closed({ ...imageFields, digest })),
);

const names = Type.Optional(Type.Array(Type.String(), { maxItems: 200 }));
const packages = Closed({ apt: names, apk: names, dnf: names });
const script = Nullable(Text({ maxLength: 16_384 }));

/** A role without its script, which only administrators see. */
export const RoleSummary = NamedObject('RoleSummary', { key: Type.String(), label: Type.String(), packages });
export const RoleList = NamedObject('RoleSummaryList', {
  roles: Type.Array(RoleSummary),
  next_cursor: nextCursor,
});
export const RoleBody = NamedObject('Role', { key: Type.String(), label: Type.String(), packages, script });
export const WholeRoleList = NamedObject('RoleList', {
  roles: Type.Array(RoleBody),
  next_cursor: nextCursor,
});
export const NewRoleRequest = NamedClosed('NewRoleRequest', {
  key: Type.String(),
  label: Type.String(),
  packages: Type.Optional(packages),
  script: Type.Optional(script),
});
export const RoleChangeRequest = Named(
  'RoleChangeRequest',
  Type.Partial(Closed({ label: Type.String(), packages, script })),
);

export const RemovedEntryBody = NamedObject('CatalogueEntryDeleted', {
  key: Type.String(),
  deleted: Type.Literal(true),
});

export const TierListQuery = listQuery(['name'], ['name']);
export const EntryListQuery = listQuery(['key', 'label'], ['key', 'label']);

export type UseLimitsBody = Static<typeof UseLimitsBody>;
export type TierBody = Static<typeof TierBody>;
export type ImageBody = Static<typeof ImageBody>;
export type RoleSummary = Static<typeof RoleSummary>;
export type RoleBody = Static<typeof RoleBody>;
