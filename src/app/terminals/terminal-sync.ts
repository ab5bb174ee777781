import { CLOSE, type CloseReason } from '../../domain/terminals/terminal.ts';
import { closeReason, takedownReason } from '../../domain/terminals/terminal-close-reason.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Logger } from '../../ports/logger.ts';
import type { TerminalCloseRequestRepository } from '../../ports/terminals/terminal-close-request-repository.ts';
import type {
  TerminalRecord,
  TerminalRecordRepository,
} from '../../ports/terminals/terminal-record-repository.ts';
import type { TerminalTarget } from './opening/locate-terminal.ts';
import type { LiveTerminal } from './terminal-connections.ts';
import {
  publishTerminalNotice,
  subscribeToTerminalNotices,
  type TerminalNotice,
} from './terminal-messages.ts';
import type { TerminalRegistry } from './terminal-registry.ts';

const RECHECK_EVERY_MS = 5_000;

export type TerminalSyncDeps = {
  readonly bus: Bus;
  readonly records: TerminalRecordRepository;
  readonly closeRequests: Pick<TerminalCloseRequestRepository, 'listFor'>;
  readonly replica: string;
  readonly registry: TerminalRegistry;
  readonly log: Logger;
  readonly monotonicMs: () => number;
};

export type TerminalSync = ReturnType<typeof terminalSync>;

/**
 * Closes this process's terminals because of events in others: replaced, closed by an administrator, container gone.
 * Messages say when to check and the database what is true; without messages it checks every five seconds.
 */
export function terminalSync(deps: TerminalSyncDeps) {
  const { bus, replica, registry, log, monotonicMs } = deps;
  const { closeRequested, giveUpTaken, shutWhere } = terminalChecks(deps);
  let recheckedMs = monotonicMs();

  const quietly = (work: Promise<void>): void =>
    void work.catch((err: unknown) => log.warn({ err }, 'could not check terminals of other processes'));

  subscribeToTerminalNotices(bus, onNotice, () => quietly(recheckAll()));

  function onNotice(notice: TerminalNotice): void {
    if (notice.kind === 'close') {
      if (registry.find(notice.id) !== null) quietly(closeRequested());
    } else if (notice.replica !== replica) {
      if (notice.kind === 'notice') show(notice.dbId, notice.message);
      else if (notice.kind === 'taken') quietly(giveUpTaken([notice.key].filter((key) => registry.has(key))));
      else quietly(shutWhere(registry.targets(notice.dbId), takedownReason));
    }
  }

  function show(dbId: string, message: string): void {
    for (const entry of registry.all()) if (entry.dbId === dbId) entry.connection.show(message);
  }

  async function recheckAll(): Promise<void> {
    recheckedMs = monotonicMs();
    const targets = registry.targets();
    if (targets.length === 0) return;
    const keys = targets.map(({ key }) => key);
    await Promise.all([closeRequested(), giveUpTaken(keys), shutWhere(targets, closeReason)]);
  }

  return {
    /** A socket of this process now shows its key's terminal, on record. */
    took: ({ key }: LiveTerminal): void => publishTerminalNotice(bus, { kind: 'taken', key, replica }),

    /** Closes all terminals of a container: here at once, in other processes soon. */
    closeAll(dbId: string, reason: CloseReason): void {
      registry.shut(reason, dbId);
      publishTerminalNotice(bus, { kind: 'shut', dbId, replica });
    },

    /** Shows a message in all terminals of a container: here at once, in other processes soon. */
    noticeAll(dbId: string, message: string): void {
      show(dbId, message);
      publishTerminalNotice(bus, { kind: 'notice', dbId, message, replica });
    },

    /** For a timer. */
    async recheckDue(): Promise<void> {
      if (monotonicMs() - recheckedMs >= RECHECK_EVERY_MS) await recheckAll();
    },
  };
}

/** What closes this process's terminals, by the database. */
function terminalChecks({ records, closeRequests, replica, registry }: TerminalSyncDeps) {
  async function closeRequested(): Promise<void> {
    for (const id of await closeRequests.listFor(replica))
      registry.find(id)?.connection.close(CLOSE.unauthorized);
  }

  /** Gives up terminals that another process has shown later. */
  async function giveUpTaken(keys: readonly TerminalTarget['key'][]): Promise<void> {
    for (const newest of await records.newest(keys)) {
      if (newest.replica === replica) continue;
      if (isTaken(newest)) registry.taken(newest.key);
    }
  }

  function isTaken(newest: TerminalRecord): boolean {
    const mine = registry.underKey(newest.key);
    if (mine !== null) return isLater(newest, mine);
    const lostAt = registry.lostAt(newest.key);
    return lostAt === null || newest.createdAt >= lostAt;
  }

  /** Closes terminals in containers that are gone, by the given rule. */
  async function shutWhere(
    targets: readonly TerminalTarget[],
    closeReasonOf: typeof closeReason,
  ): Promise<void> {
    const ids = [...new Set(targets.map(({ dbId }) => dbId))];
    const found = new Map((await records.containerStatuses(ids)).map((one) => [one.dbId, one]));
    for (const { key, dbId, runtimeId } of targets) {
      const reason = closeReasonOf(found.get(dbId) ?? null, runtimeId);
      if (reason !== null) registry.shutKey(key, reason);
    }
  }

  return { closeRequested, giveUpTaken, shutWhere };
}

/** A terminal without a record yet is later than all with one. */
const isLater = (record: TerminalRecord, { id, recordedAt }: LiveTerminal): boolean =>
  recordedAt !== null &&
  (record.createdAt > recordedAt || (record.createdAt.getTime() === recordedAt.getTime() && record.id > id));
