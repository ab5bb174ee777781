import { DEFAULT_SETTINGS } from '../../domain/settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Repositories, Storage } from '../../ports/repositories.ts';
import { memoryAuditChain } from './audit-chain.ts';
import { memoryAudit } from './audit-log.ts';
import { memoryCarriedImages } from './carried-images.ts';
import { memoryCatalogue } from './catalogue-repository.ts';
import { memoryCollaborations } from './collaboration-repository.ts';
import { memoryContainers } from './container-repository.ts';
import { memoryEvents } from './event-log.ts';
import { memoryFactors } from './factor-repository.ts';
import { memoryHistory } from './history.ts';
import { memoryIdempotencyKeys } from './idempotency-keys.ts';
import { memoryInstallation } from './installation-repository.ts';
import { memoryOperations } from './operation-repository.ts';
import { memoryPasskeys } from './passkey-repository.ts';
import { memoryPending } from './pending-repository.ts';
import { memoryRecordings } from './recording-repository.ts';
import { memoryRecoveryCodes } from './recovery-code-repository.ts';
import { memoryRequestCounts } from './request-counts.ts';
import { memoryRoleSetups } from './role-setup-repository.ts';
import { memoryScreenLocks } from './screen-lock-repository.ts';
import { memorySessions } from './session-repository.ts';
import { memorySshKeys } from './ssh-key-repository.ts';
import { emptyState, type MemoryState } from './state.ts';
import { memoryTerminalHolds } from './terminal-holds.ts';
import { memoryTerminalRecords } from './terminal-records.ts';
import { memoryThrottle } from './throttle-repository.ts';
import { memoryTokens } from './token-repository.ts';
import { memoryUsers } from './user-repository.ts';
import { memoryVolumeRetention } from './volume-retention.ts';
import { memoryWarmPool } from './warm-pool-repository.ts';

const repositoriesOn = (
  state: MemoryState,
  clock: Clock,
  committed: () => Promise<unknown>,
): Repositories => ({
  users: memoryUsers(state, clock),
  sessions: memorySessions(state, clock),
  containers: memoryContainers(state, clock),
  carried: memoryCarriedImages(state),
  retention: memoryVolumeRetention(state, clock),
  tokens: memoryTokens(state, clock),
  requestCounts: memoryRequestCounts(state, clock),
  history: memoryHistory(state, clock),
  idempotencyKeys: memoryIdempotencyKeys(state, clock),
  installation: memoryInstallation(state),
  factors: memoryFactors(state, clock),
  recoveryCodes: memoryRecoveryCodes(state),
  passkeys: memoryPasskeys(state, clock),
  pending: memoryPending(state, clock),
  screenLocks: memoryScreenLocks(state, clock),
  throttle: memoryThrottle(state, clock),
  settings: {
    read: async () => ({ ...DEFAULT_SETTINGS, ...state.settings }),
    change: async (changes) => {
      state.settings = { ...state.settings, ...changes };
      return { ...DEFAULT_SETTINGS, ...state.settings };
    },
  },
  catalogue: memoryCatalogue(state),
  operations: memoryOperations(state, clock),
  roleSetups: memoryRoleSetups(state, clock),
  warmPool: memoryWarmPool(state, clock),
  events: memoryEvents(state, clock, committed),
  audit: memoryAudit(state, clock),
  auditChain: memoryAuditChain(state),
  terminals: memoryTerminalRecords(state, clock),
  recordings: memoryRecordings(state, clock),
  terminalHolds: memoryTerminalHolds(state, clock),
  sshKeys: memorySshKeys(state, clock),
  collaborations: memoryCollaborations(state, clock),
});

/** Storage without a database. Transactions run one after the other and are undone when they throw. */
export function memoryStorage(clock: Clock): Storage & { readonly state: MemoryState } {
  const state = emptyState();
  let last: Promise<unknown> = Promise.resolve();
  const repositories = repositoriesOn(state, clock, () => last);

  return {
    state,
    repositories,
    inTransaction: (work) => {
      const run = last.then(async () => {
        const before = structuredClone(state);
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
