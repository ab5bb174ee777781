import type { Repositories } from '../../ports/storage.ts';
import type { NewTerminalRecord } from '../../ports/terminals/terminal-record-repository.ts';
import type { LiveTerminal } from './terminal-connections.ts';
import type { TerminalGrant } from './terminal-target.ts';

/** The record of an open terminal, and that it was opened. Answers when. */
export async function recordOpened(
  tx: Repositories,
  record: NewTerminalRecord,
  grant: TerminalGrant,
): Promise<Date> {
  const { userId, dbId } = record;
  const recordedAt = await tx.terminals.insert(record);
  const details = detailsOf(grant);
  await tx.audit.append({ userId, action: 'terminal_opened', ...grant.origin, details });
  await tx.containers.touch(dbId);
  return recordedAt;
}

export type ClosedTerminal = { readonly entry: LiveTerminal; readonly grant: TerminalGrant };

/** The records go, and that they did is kept. */
export async function recordClosed(tx: Repositories, closed: readonly ClosedTerminal[]): Promise<void> {
  await tx.terminals.remove(closed.map(({ entry }) => entry.id));
  // Each under its own id: what was written already is not written again when that was not heard of.
  const entries = closed.map(({ entry: { id, userId }, grant }) => {
    return { id, userId, action: 'terminal_closed', ...grant.origin, details: detailsOf(grant) } as const;
  });
  await tx.audit.append(...entries);
}

/** The container; of a participant also by which collaboration, so that the audit tells who could type where. */
function detailsOf({ container: { dbId }, access, mode }: TerminalGrant): string {
  if (access === null) return dbId;
  return JSON.stringify({ container_id: dbId, collaboration_id: access.collaborationId, mode });
}
