import type { RequestOrigin } from '../../domain/identity/caller.ts';
import type { Recording } from '../../domain/terminals/recording.ts';
import type { Repositories, Storage } from '../../ports/storage.ts';
import type { LiveTerminal } from '../terminals/terminal-connections.ts';

const detailsOf = ({ id, dbId, connectionId }: Pick<Recording, 'id' | 'dbId' | 'connectionId'>) =>
  JSON.stringify({ id, container_id: dbId, connection_id: connectionId });

/** Inserts the row and the audit record of a new recording. */
export const recordStarted = (
  { inTransaction }: Storage,
  { id, containerName, replica }: Pick<Recording, 'id' | 'containerName' | 'replica'>,
  { userId, dbId, connectionId, cols, rows }: LiveTerminal,
  origin: RequestOrigin,
): Promise<Recording> =>
  inTransaction(async (tx) => {
    const terminalIds = { id, userId, dbId, containerName, connectionId };
    const details = detailsOf(terminalIds);
    await tx.audit.append({ userId, action: 'recording_started', ...origin, details });
    return await tx.recordings.insert({ ...terminalIds, cols, rows, replica });
  });

/** Removes the row and audits it; null when there is none. */
export async function recordDeleted(
  tx: Repositories,
  id: string,
  userId: string,
  origin: RequestOrigin,
): Promise<Recording | null> {
  const gone = await tx.recordings.remove(id, userId);
  if (gone === null) return null;
  await tx.audit.append({ userId, action: 'recording_deleted', ...origin, details: detailsOf(gone) });
  return gone;
}
