import type { AuditEntry } from '../../domain/audit.ts';
import type { Image, Role } from '../../domain/catalogue.ts';
import type { Container } from '../../domain/container.ts';
import type { ContainerEvent } from '../../domain/events.ts';
import type { Tier } from '../../domain/resources.ts';
import type { RefreshToken, UserSession } from '../../domain/session.ts';
import type { Settings } from '../../domain/settings.ts';
import type { SshKey } from '../../domain/ssh-key.ts';
import type { ApiToken } from '../../domain/token.ts';
import type { User } from '../../domain/user.ts';
import type { StoredOperation } from '../../ports/operation-repository.ts';
import type { TerminalRecord } from '../../ports/terminal-records.ts';
import { emptyFactors, type FactorState } from './factor-state.ts';

/** All that is stored, as plain data, so that a transaction can be undone by putting the copy back. */
export type MemoryState = FactorState & {
  users: (User & { passwordHash: string | null })[];
  sessions: UserSession[];
  refreshTokens: Map<string, RefreshToken>;
  settings: Partial<Settings>;
  containers: Container[];
  /** `hash` in hex. */
  apiTokens: (ApiToken & { hash: string })[];
  /** By `minute key`. */
  requestCounts: Map<string, number>;
  operations: (StoredOperation & { leaseUntil: Date })[];
  events: (ContainerEvent & { createdAt: Date })[];
  orphans: Map<string, Date>;
  audit: (AuditEntry & { id: string; createdAt: Date })[];
  terminals: TerminalRecord[];
  sshKeys: SshKey[];
  setupCodeHash: string | null;
  readonly installationId: string;
  readonly tiers: readonly Tier[];
  readonly images: readonly Image[];
  readonly roles: readonly Role[];
};

const tier = (
  name: string,
  memory: number,
  cpu: number,
  disk: number,
  containers: number,
  agents: number,
): Tier => ({
  name,
  memoryMb: { min: 256, max: memory },
  cpuMillicores: { min: 100, max: cpu },
  diskMb: { min: 512, max: disk },
  maxContainers: containers,
  maxAgents: agents,
});

/** The same catalogue as the first migration writes. */
export const emptyState = (): MemoryState => ({
  users: [],
  sessions: [],
  refreshTokens: new Map(),
  settings: {},
  containers: [],
  apiTokens: [],
  requestCounts: new Map(),
  audit: [],
  operations: [],
  events: [],
  orphans: new Map(),
  terminals: [],
  sshKeys: [],
  setupCodeHash: null,
  ...emptyFactors(),
  installationId: '00000000-0000-4000-8000-000000000000',
  tiers: [
    tier('guest', 512, 500, 2048, 1, 0),
    tier('free', 2048, 2000, 10_240, 5, 2),
    tier('pro', 4096, 4000, 20_480, 10, 10),
    tier('enterprise', 8192, 8000, 51_200, 20, 25),
  ],
  images: [
    { key: 'debian', label: 'Debian 12', reference: 'berth/debian:12', digest: null, shell: '/bin/bash' },
  ],
  roles: [{ key: 'standard', label: 'Standard' }],
});
