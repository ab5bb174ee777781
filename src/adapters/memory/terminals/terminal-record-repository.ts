import { AGENT_AWAY_SECONDS } from '../../../domain/containers/agents/agent.ts';
import type { Clock } from '../../../ports/clock.ts';
import {
  type NewTerminalRecord,
  SILENT_SECONDS,
  type TerminalRecord,
  type TerminalRecordRepository,
} from '../../../ports/terminals/terminal-record-repository.ts';
import type { MemoryState, StoredContainer } from '../memory-state.ts';

type StoredRecord = TerminalRecord & { readonly closing: boolean };

const isNewer = (a: TerminalRecord, b: TerminalRecord): boolean =>
  a.createdAt > b.createdAt || (a.createdAt.getTime() === b.createdAt.getTime() && a.id > b.id);

const change = (state: MemoryState, id: string, to: Partial<StoredRecord>): void => {
  state.terminals = state.terminals.map((one) => (one.id === id ? { ...one, ...to } : one));
};

const keep = (state: MemoryState, which: (record: StoredRecord) => boolean): void => {
  state.terminals = state.terminals.filter(which);
};

/** The time of a new record: a fixed clock must not make two of one key equal. */
function newestOf(state: MemoryState, key: string, now: Date): Date {
  const earlier = state.terminals.filter((record) => record.key === key);
  return new Date(Math.max(now.getTime(), ...earlier.map(({ createdAt }) => createdAt.getTime() + 1)));
}

const isAwayShortly = ({ state: { kind }, lastSeenAt }: MemoryState['agents'][number], now: Date): boolean =>
  kind === 'away' && lastSeenAt.getTime() > now.getTime() - AGENT_AWAY_SECONDS * 1000;

function statusOf(state: MemoryState, { dbId, state: now, runtimeId }: StoredContainer, time: Date) {
  const isAway = state.agents.some((one) => one.dbId === dbId && isAwayShortly(one, time));
  const operation = state.operations.find((one) => one.dbId === dbId && one.outcome === null)?.kind ?? null;
  return { dbId, state: isAway ? 'running' : now, runtimeId, operation } as const;
}

const plain = ({ closing: _, ...record }: StoredRecord): TerminalRecord => record;

/** Empty when its user or container is gone. */
function withNames(state: MemoryState, record: StoredRecord) {
  const user = state.users.find(({ id }) => id === record.userId);
  const container = state.containers.find(({ dbId }) => dbId === record.dbId);
  if (user === undefined || container === undefined) return [];
  return [{ ...plain(record), username: user.username, containerName: container.name }];
}

export function memoryTerminalRecords(state: MemoryState, clock: Clock): TerminalRecordRepository {
  const made = (record: NewTerminalRecord, createdAt = clock.now()): StoredRecord => ({
    ...record,
    createdAt,
    lastPingAt: clock.now(),
    closing: false,
  });
  const isHeard = ({ lastPingAt }: TerminalRecord): boolean =>
    lastPingAt.getTime() >= clock.now().getTime() - SILENT_SECONDS * 1000;

  return {
    async insert(record) {
      const stored = made(record, newestOf(state, record.key, clock.now()));
      state.terminals.push(stored);
      return stored.createdAt;
    },

    async ping(records) {
      for (const { createdAt, ...record } of records) {
        if (state.terminals.some(({ id }) => id === record.id))
          change(state, record.id, { lastPingAt: clock.now() });
        else state.terminals.push(made(record, createdAt));
      }
    },

    async resize(sizes) {
      for (const { id, cols, rows } of sizes) change(state, id, { cols, rows });
    },

    remove: async (ids) => keep(state, (record) => !ids.includes(record.id)),
    removeAllOf: async (replica) => keep(state, (record) => record.replica !== replica),
    sweep: async () => keep(state, isHeard),

    list: async () =>
      state.terminals
        .filter(isHeard)
        .toReversed()
        .flatMap((record) => withNames(state, record)),

    async find(id) {
      const found = state.terminals.find((record) => record.id === id && isHeard(record));
      return found === undefined ? null : plain(found);
    },

    newest: async (keys) =>
      state.terminals
        .filter((one) => keys.includes(one.key) && isHeard(one))
        .filter((one, _, all) => !all.some((other) => other.key === one.key && isNewer(other, one)))
        .map(plain),

    containerStatuses: async (dbIds) =>
      state.containers
        .filter(({ dbId }) => dbIds.includes(dbId))
        .map((container) => statusOf(state, container, clock.now())),
  };
}
