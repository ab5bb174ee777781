import { AGENT_AWAY_SECONDS } from '../../../domain/containers/agents/agent.ts';
import type { Clock } from '../../../ports/clock.ts';
import {
  type NewTerminalRecord,
  SILENT_SECONDS,
  type TerminalRecord,
  type TerminalRecordRepository,
} from '../../../ports/terminals/terminal-record-repository.ts';
import type { MemoryState } from '../memory-state.ts';

type StoredRecord = TerminalRecord & { readonly closing: boolean };

const isNewer = (a: TerminalRecord, b: TerminalRecord): boolean =>
  a.createdAt > b.createdAt || (a.createdAt.getTime() === b.createdAt.getTime() && a.id > b.id);

const change = (state: MemoryState, id: string, to: Partial<StoredRecord>): void => {
  state.terminals = state.terminals.map((one) => (one.id === id ? { ...one, ...to } : one));
};

const keep = (state: MemoryState, which: (record: StoredRecord) => boolean): void => {
  state.terminals = state.terminals.filter(which);
};

const plain = ({ closing: _, ...record }: StoredRecord): TerminalRecord => record;

export function memoryTerminalRecords(state: MemoryState, clock: Clock): TerminalRecordRepository {
  const made = (record: NewTerminalRecord, createdAt = clock.now()): StoredRecord => ({
    ...record,
    createdAt,
    lastPingAt: clock.now(),
    closing: false,
  });
  const isHeard = ({ lastPingAt }: TerminalRecord): boolean =>
    lastPingAt.getTime() >= clock.now().getTime() - SILENT_SECONDS * 1000;

  const isAwayShortly = ({ state: { kind }, lastSeenAt }: MemoryState['agents'][number]): boolean =>
    kind === 'away' && lastSeenAt.getTime() > clock.now().getTime() - AGENT_AWAY_SECONDS * 1000;

  return {
    async insert(record) {
      // A fixed clock must not make two of one key equal.
      const earlier = state.terminals.filter(({ key }) => key === record.key);
      const after = Math.max(0, ...earlier.map(({ createdAt }) => createdAt.getTime() + 1));
      const stored = made(record, new Date(Math.max(after, clock.now().getTime())));
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

    async list() {
      return state.terminals
        .filter(isHeard)
        .toReversed()
        .flatMap((record) => {
          const user = state.users.find(({ id }) => id === record.userId);
          const container = state.containers.find(({ dbId }) => dbId === record.dbId);
          if (user === undefined || container === undefined) return [];
          return [{ ...plain(record), username: user.username, containerName: container.name }];
        });
    },

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
        .map(({ dbId, state: now, runtimeId }) => ({
          dbId,
          state: state.agents.some((one) => one.dbId === dbId && isAwayShortly(one)) ? 'running' : now,
          runtimeId,
          operation: state.operations.find((one) => one.dbId === dbId && one.outcome === null)?.kind ?? null,
        })),
  };
}
