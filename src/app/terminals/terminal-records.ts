import { setTimeout as delay } from 'node:timers/promises';
import { batchByKey } from '../../concurrency/batch.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Repositories, Storage } from '../../ports/storage.ts';
import type { NewTerminalRecord } from '../../ports/terminals/terminal-record-repository.ts';
import type { TerminalGrant } from './opening/terminal-target.ts';
import type { LiveTerminal } from './terminal-connections.ts';

const AT_ONCE = 200;
const AGAIN_MS = 1_000;

/** Does not keep the process alive, which has waited long enough by then. */
const unwatched = (ms: number): Promise<void> => delay(ms, undefined, { ref: false });

/** Records an open terminal, with its audit record. Returns the time. */
export async function recordOpened(
  tx: Repositories,
  record: NewTerminalRecord,
  grant: TerminalGrant,
): Promise<Date> {
  const { userId, dbId } = record;
  const details = detailsOf(grant);
  const [recordedAt] = await Promise.all([
    tx.terminals.insert(record),
    tx.audit.append({ userId, action: 'terminal_opened', ...grant.origin, details }),
    tx.containers.touch(dbId),
    tx.lifetimes.noteUses([{ dbId, kind: 'terminal' }]),
  ]);
  return recordedAt;
}

/** Replaces the record of an open terminal. Returns the time. */
export async function recordAnew(tx: Repositories, record: NewTerminalRecord): Promise<Date> {
  await tx.terminals.remove([record.id]);
  return await tx.terminals.insert(record);
}

type ClosedTerminal = { readonly entry: LiveTerminal; readonly grant: TerminalGrant };

/** Removes the records and audits the closes. */
async function recordClosed(tx: Repositories, closed: readonly ClosedTerminal[]): Promise<void> {
  await tx.terminals.remove(closed.map(({ entry }) => entry.id));
  // Each has its own id, so that a repeat after a lost answer writes none twice.
  const entries = closed.map(({ entry: { id, userId }, grant }) => {
    return { id, userId, action: 'terminal_closed', ...grant.origin, details: detailsOf(grant) } as const;
  });
  await tx.audit.append(...entries);
}

/**
 * Records closed terminals: simultaneous ones in one transaction, since a thousand would block the database for others,
 * with retries until it succeeds. The returned promise resolves when the record is written.
 */
export function terminalEndRecords(
  { inTransaction }: Pick<Storage, 'inTransaction'>,
  log: Logger,
  pause = unwatched,
) {
  const record = batchByKey<ClosedTerminal>(AT_ONCE, async (_, closed) => {
    for (;;) {
      try {
        await inTransaction((tx) => recordClosed(tx, closed));
        return [];
      } catch (err) {
        log.error({ err, terminals: closed.length }, 'could not record the end of terminals yet');
        await pause(AGAIN_MS);
      }
    }
  });
  return (closed: ClosedTerminal): Promise<void> => record('', closed);
}

/** The container and, for a participant, the collaboration, so that the audit shows who could type where. */
function detailsOf({ container: { dbId }, access, mode }: TerminalGrant): string {
  if (access === null) return dbId;
  return JSON.stringify({ container_id: dbId, collaboration_id: access.collaborationId, mode });
}
