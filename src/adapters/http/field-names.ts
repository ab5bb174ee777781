import type { FieldFaults } from '../../domain/field-faults.ts';

/** Fields of requests with another name in the domain. */
const ON_THE_WIRE: ReadonlyMap<string, string> = new Map([
  ['memoryMb', 'memory_mb'],
  ['cpuMillicores', 'cpu_shares'],
  ['diskMb', 'disk_mb'],
  ['layerMb', 'layer_mb'],
  ['maxContainers', 'max_containers'],
  ['maxAgents', 'max_agents'],
  ['maxSnapshots', 'max_snapshots'],
  ['snapshotMb', 'snapshot_mb'],
  ['requestsPerMinute', 'requests_per_minute'],
  ['maxTerminals', 'max_terminals'],
  ['maxEventSockets', 'max_event_sockets'],
  ['maxCommands', 'max_commands'],
  ['maxUploads', 'max_uploads'],
  ['maxDownloads', 'max_downloads'],
  ['carryOver', 'carry_over'],
  ['snapshotId', 'snapshot_id'],
  ['maxTtlSeconds', 'max_ttl_seconds'],
  ['maxIdleSeconds', 'max_idle_seconds'],
  ['ttlSeconds', 'ttl_seconds'],
  ['idleSeconds', 'idle_seconds'],
  ['onIdle', 'on_idle'],
  ['keepSeconds', 'keep_seconds'],
  ['expiresInMinutes', 'expires_in_minutes'],
  ['lifeDays', 'expires_in'],
  ['maxUses', 'max_uses'],
  ['parentId', 'parent_id'],
  ['endsAt', 'ends_at'],
  ['newPassword', 'new_password'],
  ['oldPassword', 'old_password'],
  ['oidcTier', 'oidc_tier'],
  ['disabledReason', 'disabled_reason'],
  ['accountEndsAt', 'account_ends_at'],
  ['lifeHours', 'expires_in_hours'],
  ['publicKey', 'public_key'],
  ['connectionId', 'connection_id'],
]);

export const onTheWire = (faults: FieldFaults): FieldFaults =>
  Object.fromEntries(
    Object.entries(faults).map(([field, fault]) => [ON_THE_WIRE.get(field) ?? field, fault]),
  );
