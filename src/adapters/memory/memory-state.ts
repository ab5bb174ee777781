import type { AuditEntry } from '../../domain/audit.ts';
import type { ChainHead } from '../../domain/audit-chain.ts';
import type { Agent } from '../../domain/containers/agents/agent.ts';
import type { Image, Role } from '../../domain/containers/catalogue.ts';
import type { CommandRun } from '../../domain/containers/command-run.ts';
import type { Container } from '../../domain/containers/container.ts';
import type { LayerImage } from '../../domain/containers/layer/carry-over.ts';
import type { Warned } from '../../domain/containers/lifetime/lifetime-end.ts';
import type { ContainerProcess } from '../../domain/containers/processes/process.ts';
import type { Tier } from '../../domain/containers/resources.ts';
import type { Snapshot } from '../../domain/containers/snapshots/snapshot.ts';
import type { PoolMember } from '../../domain/containers/warm-pool.ts';
import type { ContainerEvent } from '../../domain/events.ts';
import type { AccountLink } from '../../domain/identity/people/account-link.ts';
import type { UserRemoval } from '../../domain/identity/people/user-removal.ts';
import type { RefreshToken, UserSession } from '../../domain/identity/session.ts';
import type { SshKey } from '../../domain/identity/ssh-key.ts';
import type { ApiToken } from '../../domain/identity/token.ts';
import { DEFAULT_USE_LIMITS, type UseLimits } from '../../domain/identity/use-limits.ts';
import type { User } from '../../domain/identity/user.ts';
import type { Announcement } from '../../domain/service/announcement.ts';
import type { Outage, ReplicaReport } from '../../domain/service/health.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Collaboration } from '../../domain/terminals/collaboration.ts';
import type { Recording } from '../../domain/terminals/recording.ts';
import type { TerminalSize } from '../../domain/terminals/terminal.ts';
import type { StoredOperation } from '../../ports/containers/operation-repository.ts';
import type { KeyedRequest, StoredAnswer } from '../../ports/idempotency-key-store.ts';
import type { StoredHostKey } from '../../ports/identity/ssh-host-key-repository.ts';
import type { Participation } from '../../ports/terminals/participation-repository.ts';
import type { NewTerminalLease } from '../../ports/terminals/terminal-lease-repository.ts';
import type { TerminalRecord } from '../../ports/terminals/terminal-record-repository.ts';
import { emptyFactors, type FactorState } from './identity/totp-state.ts';
import { initialCatalogue } from './initial-catalogue.ts';

export type StoredContainer = Omit<Container, 'layerAllowedMb' | 'agent'>;

/** A snapshot, and the phases of its removal. */
export type StoredSnapshot = Snapshot & {
  readonly condemnedAt: Date | null;
  readonly purgedAt: Date | null;
  readonly claimedAt: Date | null;
  readonly removedAt: Date | null;
};

type StoredText = { readonly firstKept: number; readonly data: string };
type StoredRow = {
  readonly processId: string;
  readonly ownerId: string;
  readonly isWhole: boolean;
  readonly stdout: StoredText;
  readonly stderr: StoredText;
};

/** All stored data, so that a copy can undo a transaction. */
export type MemoryState = FactorState & {
  users: (User & { passwordHash: string | null; disabledReason: string | null; deletedAt: Date | null })[];
  userRemovals: UserRemoval[];
  /** `codeHash` in hex. */
  accountLinks: (AccountLink & { codeHash: string })[];
  sessions: UserSession[];
  refreshTokens: Map<string, RefreshToken>;
  settings: Partial<Settings>;
  announcements: Announcement[];
  replicaReports: ReplicaReport[];
  healthOutages: Outage[];
  containers: StoredContainer[];
  agents: (Agent & { lastSeenAt: Date })[];
  /** `codeHash` in hex. */
  agentEnrolments: { userId: string; codeHash: string; expiresAt: Date }[];
  /** By db id. */
  layerImages: Map<string, LayerImage>;
  snapshots: StoredSnapshot[];
  /** Of deleted containers, by db id. */
  volumes: Map<string, { condemnedAt?: Date; claimedAt?: Date; removedAt?: Date; purgedAt?: Date }>;
  /** `hash` in hex. */
  apiTokens: (ApiToken & { hash: string })[];
  /** By `minute key`. */
  requestCounts: Map<string, number>;
  idempotencyKeys: (KeyedRequest & {
    /** In hex. */
    hash: string;
    holder: string;
    leaseUntilMs: number;
    createdAtMs: number;
    subject: string | null;
    answer: StoredAnswer | null;
  })[];
  operations: (StoredOperation & { leaseUntil: Date; finishedAt: Date | null })[];
  warmPool: (PoolMember & { leaseOwner: string; leaseUntil: Date })[];
  events: (ContainerEvent & { position: number; createdAt: Date })[];
  lastEvent: number;
  orphans: Map<string, Date>;
  /** By container. */
  roleSetupLeases: Map<string, { readonly owner: string; readonly until: Date }>;
  /** The last attempt, by owner. */
  roleSetupsBegunAt: Map<string, Date>;
  /** By db id. */
  disksMeasuredAt: Map<string, Date>;
  /** The last use of each kind, by db id. */
  activity: Map<string, Map<string, Date>>;
  /** By db id. */
  lifetimeWarnings: Map<string, Warned>;
  auditChain: (ChainHead & { recordId: string })[];
  audit: (AuditEntry & { id: string; createdAt: Date })[];
  terminals: (TerminalRecord & { readonly closing: boolean })[];
  recordings: (Recording & { seenAt: Date })[];
  terminalLeases: (NewTerminalLease & { readonly isEnding: boolean })[];
  replicaRuns: Map<string, Date>;
  processes: ContainerProcess[];
  /** The oldest first; `data` as Latin-1. */
  processOutputs: StoredRow[];
  commandRuns: (CommandRun & { readonly nameHash: string; readonly endedAt: Date | null })[];
  sshKeys: SshKey[];
  /** `sealedPrivateKey` in hex. */
  sshHostKeys: (Omit<StoredHostKey, 'sealedPrivateKey'> & { sealedPrivateKey: string })[];
  /** `codeHash` in hex. */
  collaborations: (Collaboration & {
    codeHash: string;
    cleanedUpAt: Date | null;
    size: TerminalSize | null;
  })[];
  participations: (Participation & {
    readonly joinedAt: Date;
    /** Position of the previous event. */
    readonly joinedAfter: number;
    readonly leftAt: Date | null;
    readonly isRemoved: boolean;
  })[];
  setupCodeHash: string | null;
  readonly installationId: string;
  swarmId: string | null;
  hasLeftSwarms: boolean;
  tiers: Tier[];
  images: Image[];
  roles: Role[];
};

/** A copy that later changes do not reach. Rows are replaced and never changed, so copying lists and maps is enough. */
export const copyOf = (state: MemoryState): MemoryState =>
  Object.fromEntries(Object.entries(state).map(([name, value]) => [name, copyOfTable(value)])) as MemoryState;

function copyOfTable(table: unknown): unknown {
  if (Array.isArray(table)) return [...table];
  if (table instanceof Map) return new Map([...table].map(([key, value]) => [key, copyOfTable(value)]));
  return table;
}

export const useLimitsOf = ({ tiers }: MemoryState, user: User): UseLimits =>
  tiers.find(({ name }) => name === user.tier) ?? DEFAULT_USE_LIMITS;

/** The row with its owner's present allowance, and what agents have. */
export function asContainer(
  { users, tiers, activity, agents }: MemoryState,
  row: StoredContainer,
): Container {
  const owner = users.find(({ id }) => id === row.ownerId);
  const tier = tiers.find(({ name }) => name === owner?.tier);
  if (tier === undefined) throw new Error(`the owner of container ${row.dbId} has no tier`);
  const uses = [...(activity.get(row.dbId)?.values() ?? [])].map((at) => at.getTime());
  const activeAt = uses.length === 0 ? null : new Date(Math.max(...uses));
  const container = { ...row, layerAllowedMb: tier.layerMb, lifetime: { ...row.lifetime, activeAt } };
  const agent = agents.find(({ dbId }) => dbId === row.dbId);
  if (agent === undefined) return container;
  const { platform, lastSeenAt } = agent;
  return { ...container, agent: { platform, lastSeenAt } };
}

export const emptyState = (): MemoryState => ({
  users: [],
  accountLinks: [],
  userRemovals: [],
  sessions: [],
  refreshTokens: new Map(),
  settings: {},
  announcements: [],
  replicaReports: [],
  healthOutages: [],
  containers: [],
  agents: [],
  agentEnrolments: [],
  layerImages: new Map(),
  snapshots: [],
  volumes: new Map(),
  apiTokens: [],
  requestCounts: new Map(),
  audit: [],
  auditChain: [],
  operations: [],
  idempotencyKeys: [],
  warmPool: [],
  events: [],
  lastEvent: 0,
  orphans: new Map(),
  roleSetupLeases: new Map(),
  roleSetupsBegunAt: new Map(),
  disksMeasuredAt: new Map(),
  activity: new Map(),
  lifetimeWarnings: new Map(),
  terminals: [],
  recordings: [],
  terminalLeases: [],
  replicaRuns: new Map(),
  processes: [],
  processOutputs: [],
  commandRuns: [],
  sshKeys: [],
  sshHostKeys: [],
  collaborations: [],
  participations: [],
  setupCodeHash: null,
  ...emptyFactors(),
  installationId: '00000000-0000-4000-8000-000000000000',
  swarmId: null,
  hasLeftSwarms: false,
  ...initialCatalogue(),
});
