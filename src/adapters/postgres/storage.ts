import type { Repositories, Storage } from '../../ports/storage.ts';
import { postgresAuditChain } from './audit-chain.ts';
import { postgresAudit } from './audit-log.ts';
import { inTransaction } from './connection/transaction.ts';
import { postgresAdministeredContainers } from './containers/administration/administered-container-repository.ts';
import { postgresAgentEnrolments } from './containers/agents/agent-enrolment-repository.ts';
import { postgresAgents } from './containers/agents/agent-repository.ts';
import { postgresCapacity } from './containers/capacity-repository.ts';
import { postgresCatalogue } from './containers/catalogue-repository.ts';
import { postgresCommandRuns } from './containers/command-run-repository.ts';
import { postgresContainers } from './containers/container-repository.ts';
import { postgresDiskUse } from './containers/disk-use-repository.ts';
import { postgresLifetimes } from './containers/lifetime/lifetime-repository.ts';
import { postgresOperations } from './containers/operation-repository.ts';
import { postgresProcessOutputs } from './containers/process-output-repository.ts';
import { postgresProcesses } from './containers/process-repository.ts';
import { postgresDeletedContainers } from './containers/retention/deleted-container-repository.ts';
import { postgresLayerImages } from './containers/retention/layer-image-repository.ts';
import { postgresOrphans } from './containers/retention/orphan-repository.ts';
import { postgresVolumeRetention } from './containers/retention/volume-retention-repository.ts';
import { postgresRoleSetups } from './containers/role-setup-repository.ts';
import { postgresDeletedSnapshots } from './containers/snapshots/deleted-snapshot-repository.ts';
import { postgresSnapshots } from './containers/snapshots/snapshot-repository.ts';
import { postgresSnapshotRetention } from './containers/snapshots/snapshot-retention-repository.ts';
import { postgresWarmPool } from './containers/warm-pool-repository.ts';
import { postgresEvents } from './event-log.ts';
import { postgresHistory } from './history-repository.ts';
import { postgresIdempotencyKeys } from './idempotency-key-store.ts';
import { postgresDeviceSignIns } from './identity/device-sign-in-repository.ts';
import { postgresThrottle } from './identity/login-throttle-repository.ts';
import { postgresIdentities } from './identity/openid/identity-repository.ts';
import { postgresProviderSessions } from './identity/openid/provider-session-repository.ts';
import { postgresProviderSignIns } from './identity/openid/provider-sign-in-repository.ts';
import { postgresPasskeys } from './identity/passkey-repository.ts';
import { postgresPending } from './identity/pending-proof-repository.ts';
import { postgresAccountLinks } from './identity/people/account-link-repository.ts';
import { postgresPeople } from './identity/people/person-repository.ts';
import { postgresUserRemovals } from './identity/people/user-removal-repository.ts';
import { postgresRecoveryCodes } from './identity/recovery-code-repository.ts';
import { postgresRefreshTokens } from './identity/refresh-token-repository.ts';
import { postgresRequestCounts } from './identity/request-count-store.ts';
import { postgresScreenLocks } from './identity/screen-lock-repository.ts';
import { postgresSessions } from './identity/session-repository.ts';
import { postgresSshHostKeys } from './identity/ssh-host-key-repository.ts';
import { postgresSshKeys } from './identity/ssh-key-repository.ts';
import { postgresTokens } from './identity/token-repository.ts';
import { postgresFactors } from './identity/totp-repository.ts';
import { postgresUsers } from './identity/user-repository.ts';
import { postgresInstallation } from './installation-repository.ts';
import type { Db } from './schema/database-schema.ts';
import { postgresAnnouncements } from './service/announcement-repository.ts';
import { postgresHealth } from './service/health-repository.ts';
import { postgresSettings } from './settings-repository.ts';
import { postgresCollaborationCleanup } from './terminals/collaboration-cleanup-repository.ts';
import { postgresCollaborations } from './terminals/collaboration-repository.ts';
import { postgresParticipations } from './terminals/participation-repository.ts';
import { postgresRecordings } from './terminals/recording-repository.ts';
import { postgresSharedContainers } from './terminals/shared-container-repository.ts';
import { postgresTerminalCloseRequests } from './terminals/terminal-close-request-repository.ts';
import { postgresTerminalLeases } from './terminals/terminal-lease-repository.ts';
import { postgresTerminalRecords } from './terminals/terminal-record-repository.ts';

const ofIdentity = {
  users: postgresUsers,
  people: postgresPeople,
  accountLinks: postgresAccountLinks,
  userRemovals: postgresUserRemovals,
  sessions: postgresSessions,
  refreshTokens: postgresRefreshTokens,
  tokens: postgresTokens,
  requestCounts: postgresRequestCounts,
  factors: postgresFactors,
  recoveryCodes: postgresRecoveryCodes,
  passkeys: postgresPasskeys,
  identities: postgresIdentities,
  providerSignIns: postgresProviderSignIns,
  providerSessions: postgresProviderSessions,
  pending: postgresPending,
  deviceSignIns: postgresDeviceSignIns,
  screenLocks: postgresScreenLocks,
  throttle: postgresThrottle,
  sshKeys: postgresSshKeys,
  sshHostKeys: postgresSshHostKeys,
};

const ofContainers = {
  catalogue: postgresCatalogue,
  containers: postgresContainers,
  administeredContainers: postgresAdministeredContainers,
  agents: postgresAgents,
  agentEnrolments: postgresAgentEnrolments,
  deletedContainers: postgresDeletedContainers,
  diskUse: postgresDiskUse,
  capacity: postgresCapacity,
  orphans: postgresOrphans,
  layerImages: postgresLayerImages,
  snapshots: postgresSnapshots,
  deletedSnapshots: postgresDeletedSnapshots,
  snapshotRetention: postgresSnapshotRetention,
  retention: postgresVolumeRetention,
  operations: postgresOperations,
  lifetimes: postgresLifetimes,
  warmPool: postgresWarmPool,
  roleSetups: postgresRoleSetups,
  processes: postgresProcesses,
  processOutputs: postgresProcessOutputs,
  commandRuns: postgresCommandRuns,
};

const ofTerminals = {
  terminals: postgresTerminalRecords,
  terminalCloseRequests: postgresTerminalCloseRequests,
  recordings: postgresRecordings,
  terminalLeases: postgresTerminalLeases,
  collaborations: postgresCollaborations,
  participations: postgresParticipations,
  sharedContainers: postgresSharedContainers,
  collaborationCleanup: postgresCollaborationCleanup,
};

type Makers = { readonly [Name in keyof Repositories]: (db: Db) => Repositories[Name] };

const MAKERS: Makers = {
  ...ofIdentity,
  ...ofContainers,
  ...ofTerminals,
  settings: postgresSettings,
  announcements: postgresAnnouncements,
  health: postgresHealth,
  history: postgresHistory,
  idempotencyKeys: postgresIdempotencyKeys,
  installation: postgresInstallation,
  audit: postgresAudit,
  auditChain: postgresAuditChain,
  events: postgresEvents,
};

/** Each is made at its first use: a transaction uses a few of them. */
function repositoriesOn(db: Db): Repositories {
  const made = new Map<string, object>();
  const get = (_makers: Makers, name: string | symbol): object | undefined => {
    if (!isName(name)) return undefined;
    const repository = made.get(name) ?? MAKERS[name](db);
    made.set(name, repository);
    return repository;
  };
  const all: unknown = new Proxy(MAKERS, { get });
  return all as Repositories;
}

const isName = (name: string | symbol): name is keyof Repositories => name in MAKERS;

export const postgresStorage = (db: Db): Storage => ({
  repositories: repositoriesOn(db),
  inTransaction: (work) => inTransaction(db, (tx) => work(repositoriesOn(tx))),
});
