import { authorized } from '../session/session.ts';
import type { Collaboration, CollaborationMode, Joined, SharedTerminal } from './types.ts';

const of = (container: string): string => `/api/containers/${encodeURIComponent(container)}/collaborations`;

/** The live ones of an own container, newest first. */
export async function listCollaborations(container: string): Promise<readonly Collaboration[]> {
  const { collaborations } = await authorized<{ collaborations: readonly Collaboration[] }>(of(container));
  return collaborations;
}

/** The link is in the answer, and in no later one. */
export const shareTerminal = (
  container: string,
  mode: CollaborationMode,
  minutes: number,
): Promise<SharedTerminal> =>
  authorized<SharedTerminal>(of(container), { method: 'POST', body: { mode, expires_in_minutes: minutes } });

export const joinCollaboration = (code: string): Promise<Joined> =>
  authorized<Joined>('/api/collaborations/join', { method: 'POST', body: { code } });

/** Its owner ends it, a participant leaves it. */
export const leaveCollaboration = (id: string): Promise<unknown> =>
  authorized(`/api/collaborations/${encodeURIComponent(id)}`, { method: 'DELETE' });

/** Puts one participant out; the link does not bring them back. */
export const removeParticipant = (id: string, userId: string): Promise<unknown> =>
  authorized(`/api/collaborations/${encodeURIComponent(id)}/participants/${encodeURIComponent(userId)}`, {
    method: 'DELETE',
  });
