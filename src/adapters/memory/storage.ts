import { DEFAULT_SETTINGS } from '../../domain/settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Repositories, Storage } from '../../ports/storage.ts';
import { memoryAuditChain } from './audit-chain.ts';
import { memoryAudit } from './audit-log.ts';
import { memoryAdministeredContainers } from './containers/administration/administered-container-repository.ts';
import { memoryAgentEnrolments } from './containers/agents/agent-enrolment-repository.ts';
import { memoryAgents } from './containers/agents/agent-repository.ts';
import { memoryCapacity } from './containers/capacity/capacity-repository.ts';
import { memoryCatalogue } from './containers/catalogue-repository.ts';
import { memoryCommandRuns } from './containers/command-run-repository.ts';
import { memoryContainers } from './containers/container-repository.ts';
import { memoryDiskUse } from './containers/disk-use-repository.ts';
import { memoryLifetimes } from './containers/lifetime/lifetime-repository.ts';
import { memoryOperations } from './containers/operation-repository.ts';
import { memoryProcessOutputs } from './containers/processes/process-output-repository.ts';
import { memoryProcessRecords } from './containers/processes/process-repository.ts';
import { memoryDeletedContainers } from './containers/retention/deleted-container-repository.ts';
import { memoryLayerImages } from './containers/retention/layer-image-repository.ts';
import { memoryOrphans } from './containers/retention/orphan-repository.ts';
import { memoryVolumeRetention } from './containers/retention/volume-retention-repository.ts';
import { memoryRoleSetups } from './containers/role-setup-repository.ts';
import { memoryDeletedSnapshots } from './containers/snapshots/deleted-snapshot-repository.ts';
import { memorySnapshotRecords } from './containers/snapshots/snapshot-repository.ts';
import { memorySnapshotRetention } from './containers/snapshots/snapshot-retention-repository.ts';
import { memoryWarmPool } from './containers/warm-pool-repository.ts';
import { memoryEvents } from './event-log.ts';
import { memoryHistory } from './history-repository.ts';
import { memoryIdempotencyKeys } from './idempotency-key-store.ts';
import { memoryDeviceSignIns } from './identity/device-sign-in-repository.ts';
import { memoryThrottle } from './identity/login-throttle-repository.ts';
import { memoryIdentities } from './identity/openid/identity-repository.ts';
import { memoryProviderSessions } from './identity/openid/provider-session-repository.ts';
import { memoryProviderSignIns } from './identity/openid/provider-sign-in-repository.ts';
import { memoryPasskeys } from './identity/passkey-repository.ts';
import { memoryPending } from './identity/pending-proof-repository.ts';
import { memoryAccountLinks } from './identity/people/account-link-repository.ts';
import { memoryPeople } from './identity/people/person-repository.ts';
import { memoryUserRemovals } from './identity/people/user-removal-repository.ts';
import { memoryRecoveryCodes } from './identity/recovery-code-repository.ts';
import { memoryRefreshTokens } from './identity/refresh-token-repository.ts';
import { memoryRequestCounts } from './identity/request-count-store.ts';
import { memoryScreenLocks } from './identity/screen-lock-repository.ts';
import { memorySessions } from './identity/session-repository.ts';
import { memorySshHostKeys } from './identity/ssh-host-key-repository.ts';
import { memorySshKeys } from './identity/ssh-key-repository.ts';
import { memoryTokens } from './identity/token-repository.ts';
import { memoryFactors } from './identity/totp-repository.ts';
import { memoryUsers } from './identity/user-repository.ts';
import { memoryInstallation } from './installation-repository.ts';
import { copyOf, emptyState, type MemoryState } from './memory-state.ts';
import { memoryAnnouncements } from './service/announcement-repository.ts';
import { memoryHealth } from './service/health-repository.ts';
import { memoryCollaborationCleanup } from './terminals/collaboration-cleanup-repository.ts';
import { memoryCollaborations } from './terminals/collaboration-repository.ts';
import { memoryParticipations } from './terminals/participation-repository.ts';
import { memoryRecordings } from './terminals/recording-repository.ts';
import { memorySharedContainers } from './terminals/shared-container-repository.ts';
import { memoryTerminalCloseRequests } from './terminals/terminal-close-request-repository.ts';
import { memoryTerminalLeases } from './terminals/terminal-lease-repository.ts';
import { memoryTerminalRecords } from './terminals/terminal-record-repository.ts';

const ofIdentity = (state: MemoryState, clock: Clock) => ({
  users: memoryUsers(state, clock),
  people: memoryPeople(state, clock),
  accountLinks: memoryAccountLinks(state, clock),
  userRemovals: memoryUserRemovals(state, clock),
  sessions: memorySessions(state, clock),
  refreshTokens: memoryRefreshTokens(state, clock),
  tokens: memoryTokens(state, clock),
  requestCounts: memoryRequestCounts(state, clock),
  factors: memoryFactors(state, clock),
  recoveryCodes: memoryRecoveryCodes(state),
  passkeys: memoryPasskeys(state, clock),
  identities: memoryIdentities(state, clock),
  providerSignIns: memoryProviderSignIns(state, clock),
  providerSessions: memoryProviderSessions(state, clock),
  pending: memoryPending(state, clock),
  deviceSignIns: memoryDeviceSignIns(state, clock),
  screenLocks: memoryScreenLocks(state, clock),
  throttle: memoryThrottle(state, clock),
  sshKeys: memorySshKeys(state, clock),
  sshHostKeys: memorySshHostKeys(state),
});

const ofContainers = (state: MemoryState, clock: Clock) => ({
  containers: memoryContainers(state, clock),
  administeredContainers: memoryAdministeredContainers(state),
  agents: memoryAgents(state, clock),
  agentEnrolments: memoryAgentEnrolments(state, clock),
  deletedContainers: memoryDeletedContainers(state),
  diskUse: memoryDiskUse(state, clock),
  capacity: memoryCapacity(state, clock),
  orphans: memoryOrphans(state, clock),
  layerImages: memoryLayerImages(state),
  snapshots: memorySnapshotRecords(state, clock),
  deletedSnapshots: memoryDeletedSnapshots(state),
  snapshotRetention: memorySnapshotRetention(state, clock),
  retention: memoryVolumeRetention(state, clock),
  catalogue: memoryCatalogue(state),
  operations: memoryOperations(state, clock),
  lifetimes: memoryLifetimes(state, clock),
  roleSetups: memoryRoleSetups(state, clock),
  processes: memoryProcessRecords(state, clock),
  processOutputs: memoryProcessOutputs(state),
  commandRuns: memoryCommandRuns(state, clock),
  warmPool: memoryWarmPool(state, clock),
});

const ofTerminals = (state: MemoryState, clock: Clock) => ({
  terminals: memoryTerminalRecords(state, clock),
  terminalCloseRequests: memoryTerminalCloseRequests(state),
  recordings: memoryRecordings(state, clock),
  terminalLeases: memoryTerminalLeases(state, clock),
  collaborations: memoryCollaborations(state, clock),
  participations: memoryParticipations(state, clock),
  sharedContainers: memorySharedContainers(state, clock),
  collaborationCleanup: memoryCollaborationCleanup(state, clock),
});

const repositoriesOn = (
  state: MemoryState,
  clock: Clock,
  committed: () => Promise<unknown>,
): Repositories => ({
  ...ofIdentity(state, clock),
  ...ofContainers(state, clock),
  ...ofTerminals(state, clock),
  settings: {
    read: async () => ({ ...DEFAULT_SETTINGS, ...state.settings }),
    change: async (changes) => {
      state.settings = { ...state.settings, ...changes };
      return { ...DEFAULT_SETTINGS, ...state.settings };
    },
  },
  announcements: memoryAnnouncements(state, clock),
  health: memoryHealth(state, clock),
  history: memoryHistory(state, clock),
  idempotencyKeys: memoryIdempotencyKeys(state, clock),
  installation: memoryInstallation(state),
  audit: memoryAudit(state, clock),
  auditChain: memoryAuditChain(state),
  events: memoryEvents(state, clock, committed),
});

/** Storage without a database. Transactions run one at a time and are undone when they throw. */
export function memoryStorage(clock: Clock): Storage & { readonly state: MemoryState } {
  const state = emptyState();
  let last: Promise<unknown> = Promise.resolve();
  const repositories = repositoriesOn(state, clock, () => last);

  return {
    state,
    repositories,
    inTransaction: (work) => {
      const run = last.then(async () => {
        const before = copyOf(state);
        return await work(repositories).catch((error: unknown) => {
          Object.assign(state, before);
          throw error;
        });
      });
      last = run.catch(() => undefined);
      return run;
    },
  };
}
