import { DEFAULT_SETTINGS } from '../../domain/settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Repositories, Storage } from '../../ports/repositories.ts';
import { memoryAudit } from './audit-log.ts';
import { memoryContainers } from './container-repository.ts';
import { memoryFactors } from './factor-repository.ts';
import { memoryInstallation } from './installation-repository.ts';
import { memoryOperations } from './operation-repository.ts';
import { memoryPasskeys } from './passkey-repository.ts';
import { memoryPending } from './pending-repository.ts';
import { memoryRecoveryCodes } from './recovery-code-repository.ts';
import { memoryRequestCounts } from './request-counts.ts';
import { memoryScreenLocks } from './screen-lock-repository.ts';
import { memorySessions } from './session-repository.ts';
import { memorySshKeys } from './ssh-key-repository.ts';
import { emptyState, type MemoryState } from './state.ts';
import { memoryTerminalRecords } from './terminal-records.ts';
import { memoryThrottle } from './throttle-repository.ts';
import { memoryTokens } from './token-repository.ts';
import { memoryUsers } from './user-repository.ts';

const repositoriesOn = (state: MemoryState, clock: Clock): Repositories => ({
  users: memoryUsers(state, clock),
  sessions: memorySessions(state, clock),
  containers: memoryContainers(state, clock),
  tokens: memoryTokens(state, clock),
  requestCounts: memoryRequestCounts(state, clock),
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
  catalogue: {
    tiers: async () => state.tiers,
    tier: async (name) => state.tiers.find((tier) => tier.name === name) ?? null,
    images: async () => state.images,
    roles: async () => state.roles,
  },
  operations: memoryOperations(state, clock),
  events: {
    append: async (event) => {
      state.events.push({ ...event, createdAt: clock.now() });
    },
  },
  audit: memoryAudit(state, clock),
  terminals: memoryTerminalRecords(state, clock),
  sshKeys: memorySshKeys(state, clock),
});

/** Storage without a database. Transactions run one after the other and are undone when they throw. */
export function memoryStorage(clock: Clock): Storage & { readonly state: MemoryState } {
  const state = emptyState();
  const repositories = repositoriesOn(state, clock);
  let last: Promise<unknown> = Promise.resolve();

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
