import { del, getList, post, under } from '../calls.ts';
import type { Collaboration, CollaborationMode, Joined, SharedTerminal } from '../types.ts';

const of = (container: string): string => `${under('/api/containers', container)}/collaborations`;
const one = (id: string): string => under('/api/collaborations', id);

/** The live ones of an own container, newest first. */
export const listCollaborations = (container: string) =>
  getList<Collaboration>(of(container), 'collaborations');

/** The link is in this answer, and in no later one. */
export const shareTerminal = (container: string, mode: CollaborationMode, minutes: number) =>
  post<SharedTerminal>(of(container), { mode, expires_in_minutes: minutes });

export const joinCollaboration = (code: string) => post<Joined>('/api/collaborations/join', { code });

/** Its owner ends it, a participant leaves it. */
export const leaveCollaboration = (id: string) => del(one(id));

/** Removes one participant; the link does not let them in again. */
export const removeParticipant = (id: string, userId: string) =>
  del(under(`${one(id)}/participants`, userId));
