import { CLOSE, type CloseReason } from '../../domain/terminals/terminal.ts';
import { closeFor, downFor } from '../../domain/terminals/terminal-close-reason.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Logger } from '../../ports/logger.ts';
import type { TerminalRecord, TerminalRecords } from '../../ports/terminals/terminal-record-repository.ts';
import type { Place } from './locate-terminal.ts';
import type { LiveTerminal, LiveTerminals } from './terminal-connections.ts';
import {
  publishTerminalNotice,
  subscribeToTerminalNotices,
  type TerminalNotice,
} from './terminal-messages.ts';
import type { TerminalSlots } from './terminal-registry.ts';

const RECHECK_EVERY_MS = 5_000;

export type TerminalReplicasDeps = {
  readonly bus: Bus;
  readonly records: TerminalRecords;
  readonly replica: string;
  readonly live: LiveTerminals;
  readonly slots: TerminalSlots;
  readonly log: Logger;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
};

export type TerminalReplicas = ReturnType<typeof terminalReplicas>;

/**
 * Closes terminals of this process for what happened at others: replaced under their key, closed by an administrator,
 * their container gone. Messages say when to look, and the database what is so; without messages it is looked at every
 * five seconds.
 */
export function terminalReplicas(deps: TerminalReplicasDeps) {
  const { bus, records, replica, live, slots, log, monotonicMs } = deps;
  let recheckedMs = monotonicMs();

  const quietly = (work: Promise<void>): void =>
    void work.catch((err: unknown) => log.warn({ err }, 'could not check terminals of other processes'));

  subscribeToTerminalNotices(bus, onNotice, () => quietly(recheckAll()));

  function onNotice(notice: TerminalNotice): void {
    if (notice.kind === 'close') {
      if (live.find(notice.id) !== null) quietly(closeAsked());
    } else if (notice.replica !== replica) {
      if (notice.kind === 'taken') quietly(giveUpTaken([notice.key].filter((key) => slots.has(key))));
      else quietly(shutWhere(slots.places(notice.dbId), downFor));
    }
  }

  async function closeAsked(): Promise<void> {
    for (const id of await records.askedToClose(replica)) live.find(id)?.connection.close(CLOSE.unauthorized);
  }

  /** Lets go of what another process shows under the same key, if that came later. */
  async function giveUpTaken(keys: readonly Place['key'][]): Promise<void> {
    for (const newest of await records.newest(keys)) {
      const mine = live.underKey(newest.key);
      if (newest.replica !== replica && (mine === null || isLater(newest, mine))) slots.taken(newest.key);
    }
  }

  /** Closes what is in containers that have gone, as `judge` says. */
  async function shutWhere(places: readonly Place[], closeReasonOf: typeof closeFor): Promise<void> {
    const ids = [...new Set(places.map(({ dbId }) => dbId))];
    const found = new Map((await records.places(ids)).map((one) => [one.dbId, one]));
    for (const { key, dbId, runtimeId } of places) {
      const reason = closeReasonOf(found.get(dbId) ?? null, runtimeId);
      if (reason !== null) slots.shutKey(key, reason);
    }
  }

  async function recheckAll(): Promise<void> {
    recheckedMs = monotonicMs();
    const places = slots.places();
    if (places.length === 0) return;
    const keys = places.map(({ key }) => key);
    await Promise.all([closeAsked(), giveUpTaken(keys), shutWhere(places, closeFor)]);
  }

  return {
    /** A socket of this process shows what is under its key now; on record. */
    took: ({ key }: LiveTerminal): void => publishTerminalNotice(bus, { kind: 'taken', key, replica }),

    /** Closes every terminal of a container: here at once, in other processes soon. */
    closeAll(dbId: string, reason: CloseReason): void {
      slots.shut(reason, dbId);
      publishTerminalNotice(bus, { kind: 'shut', dbId, replica });
    },

    /** For a timer. */
    async recheckDue(): Promise<void> {
      if (monotonicMs() - recheckedMs >= RECHECK_EVERY_MS) await recheckAll();
    },
  };
}

/** One that is not on record yet will be later than all that are. */
const isLater = (record: TerminalRecord, { id, recordedAt }: LiveTerminal): boolean =>
  recordedAt !== null &&
  (record.createdAt > recordedAt || (record.createdAt.getTime() === recordedAt.getTime() && record.id > id));
