import type { AuditChain } from './audit-chain.ts';
import type { AuditLog } from './audit-log.ts';
import type { AdministeredContainerRepository } from './containers/administration/administered-container-repository.ts';
import type { AgentEnrolmentRepository } from './containers/agents/agent-enrolment-repository.ts';
import type { AgentRepository } from './containers/agents/agent-repository.ts';
import type { CapacityRepository } from './containers/capacity/capacity-repository.ts';
import type { CatalogueRepository } from './containers/catalogue-repository.ts';
import type { ContainerRepository } from './containers/container-repository.ts';
import type { DiskUseRepository } from './containers/disk-use-repository.ts';
import type { CommandRunRepository } from './containers/inside/command-run-repository.ts';
import type { LifetimeRepository } from './containers/lifetime/lifetime-repository.ts';
import type { OperationRepository } from './containers/operation-repository.ts';
import type { ProcessOutputRepository } from './containers/processes/process-output-repository.ts';
import type { ProcessRepository } from './containers/processes/process-repository.ts';
import type { DeletedContainerRepository } from './containers/retention/deleted-container-repository.ts';
import type { LayerImageRepository } from './containers/retention/layer-image-repository.ts';
import type { OrphanRepository } from './containers/retention/orphan-repository.ts';
import type { VolumeRetentionRepository } from './containers/retention/volume-retention-repository.ts';
import type { RoleSetupRepository } from './containers/role-setup-repository.ts';
import type { DeletedSnapshotRepository } from './containers/snapshots/deleted-snapshot-repository.ts';
import type { SnapshotRepository } from './containers/snapshots/snapshot-repository.ts';
import type { SnapshotRetentionRepository } from './containers/snapshots/snapshot-retention-repository.ts';
import type { WarmPoolRepository } from './containers/warm-pool-repository.ts';
import type { EventLog } from './event-log.ts';
import type { HistoryRepository } from './history-repository.ts';
import type { IdempotencyKeyStore } from './idempotency-key-store.ts';
import type { DeviceSignInRepository } from './identity/device-sign-in-repository.ts';
import type { LoginThrottleRepository } from './identity/login-throttle-repository.ts';
import type { IdentityRepository } from './identity/openid/identity-repository.ts';
import type { ProviderSessionRepository } from './identity/openid/provider-session-repository.ts';
import type { ProviderSignInRepository } from './identity/openid/provider-sign-in-repository.ts';
import type { PasskeyRepository } from './identity/passkey-repository.ts';
import type { PendingProofRepository } from './identity/pending-proof-repository.ts';
import type { AccountLinkRepository } from './identity/people/account-link-repository.ts';
import type { PersonRepository } from './identity/people/person-repository.ts';
import type { UserRemovalRepository } from './identity/people/user-removal-repository.ts';
import type { RecoveryCodeRepository } from './identity/recovery-code-repository.ts';
import type { RefreshTokenRepository } from './identity/refresh-token-repository.ts';
import type { RequestCountStore } from './identity/request-count-store.ts';
import type { ScreenLockRepository } from './identity/screen-lock-repository.ts';
import type { SessionRepository } from './identity/session-repository.ts';
import type { SshHostKeyRepository } from './identity/ssh-host-key-repository.ts';
import type { SshKeyRepository } from './identity/ssh-key-repository.ts';
import type { TokenRepository } from './identity/token-repository.ts';
import type { TotpRepository } from './identity/totp-repository.ts';
import type { UserRepository } from './identity/user-repository.ts';
import type { InstallationRepository } from './installation-repository.ts';
import type { AnnouncementRepository } from './service/announcement-repository.ts';
import type { HealthRepository } from './service/health-repository.ts';
import type { SettingsRepository } from './settings-repository.ts';
import type { CollaborationCleanupRepository } from './terminals/collaboration-cleanup-repository.ts';
import type { CollaborationRepository } from './terminals/collaboration-repository.ts';
import type { ParticipationRepository } from './terminals/participation-repository.ts';
import type { RecordingRepository } from './terminals/recording-repository.ts';
import type { SharedContainerRepository } from './terminals/shared-container-repository.ts';
import type { TerminalCloseRequestRepository } from './terminals/terminal-close-request-repository.ts';
import type { TerminalLeaseRepository } from './terminals/terminal-lease-repository.ts';
import type { TerminalRecordRepository } from './terminals/terminal-record-repository.ts';

/** All stored data. Each method writes one fact, and repeats the condition that its decision was based on. */
export type Repositories = {
  readonly users: UserRepository;
  readonly people: PersonRepository;
  readonly accountLinks: AccountLinkRepository;
  readonly userRemovals: UserRemovalRepository;
  readonly sessions: SessionRepository;
  readonly refreshTokens: RefreshTokenRepository;
  readonly settings: SettingsRepository;
  readonly announcements: AnnouncementRepository;
  readonly health: HealthRepository;
  readonly catalogue: CatalogueRepository;
  readonly containers: ContainerRepository;
  readonly administeredContainers: AdministeredContainerRepository;
  readonly agents: AgentRepository;
  readonly agentEnrolments: AgentEnrolmentRepository;
  readonly deletedContainers: DeletedContainerRepository;
  readonly diskUse: DiskUseRepository;
  readonly capacity: CapacityRepository;
  readonly orphans: OrphanRepository;
  readonly layerImages: LayerImageRepository;
  readonly snapshots: SnapshotRepository;
  readonly deletedSnapshots: DeletedSnapshotRepository;
  readonly snapshotRetention: SnapshotRetentionRepository;
  readonly retention: VolumeRetentionRepository;
  readonly history: HistoryRepository;
  readonly installation: InstallationRepository;
  readonly audit: AuditLog;
  readonly auditChain: AuditChain;
  readonly operations: OperationRepository;
  readonly lifetimes: LifetimeRepository;
  readonly warmPool: WarmPoolRepository;
  readonly events: EventLog;
  readonly roleSetups: RoleSetupRepository;
  readonly processes: ProcessRepository;
  readonly processOutputs: ProcessOutputRepository;
  readonly commandRuns: CommandRunRepository;
  readonly factors: TotpRepository;
  readonly recoveryCodes: RecoveryCodeRepository;
  readonly passkeys: PasskeyRepository;
  readonly identities: IdentityRepository;
  readonly providerSignIns: ProviderSignInRepository;
  readonly providerSessions: ProviderSessionRepository;
  readonly pending: PendingProofRepository;
  readonly deviceSignIns: DeviceSignInRepository;
  readonly screenLocks: ScreenLockRepository;
  readonly throttle: LoginThrottleRepository;
  readonly tokens: TokenRepository;
  readonly requestCounts: RequestCountStore;
  readonly idempotencyKeys: IdempotencyKeyStore;
  readonly terminals: TerminalRecordRepository;
  readonly terminalCloseRequests: TerminalCloseRequestRepository;
  readonly recordings: RecordingRepository;
  readonly terminalLeases: TerminalLeaseRepository;
  readonly sshKeys: SshKeyRepository;
  readonly sshHostKeys: SshHostKeyRepository;
  readonly collaborations: CollaborationRepository;
  readonly participations: ParticipationRepository;
  readonly sharedContainers: SharedContainerRepository;
  readonly collaborationCleanup: CollaborationCleanupRepository;
};

/** All writes of `work` happen, or none. It must do nothing outside the database. */
export type InTransaction = <T>(work: (repositories: Repositories) => Promise<T>) => Promise<T>;

/** Single statements by `repositories`, transactions by `inTransaction`. */
export type Storage = { readonly repositories: Repositories; readonly inTransaction: InTransaction };

/** The database did not answer; its state is unknown. Never a reason to refuse a credential. */
export class StorageUnavailable extends Error {
  override name = 'StorageUnavailable';
}

/** The database is up, but aborted the statement for taking too long. */
export class StorageTooSlow extends StorageUnavailable {
  override name = 'StorageTooSlow';
}

/** All connections were in use for too long. Nothing was sent to the database. */
export class StorageBusy extends StorageUnavailable {
  override name = 'StorageBusy';
}
