import type { AuditAction } from '../audit.ts';
import type { DomainError } from '../errors.ts';
import type { FieldFaults } from '../field-faults.ts';
import { ok, type Result, refuse } from '../result.ts';

/**
 * From the most permissive to the least. `control`: sees the owner's main terminal, and types in it. `view`: sees it.
 */
export const COLLABORATION_MODES = ['control', 'view'] as const;

export type CollaborationMode = (typeof COLLABORATION_MODES)[number];

/** For sorting: of several shares with one participant, the first counts. */
export const byPermission = (a: { mode: CollaborationMode }, b: { mode: CollaborationMode }): number =>
  COLLABORATION_MODES.indexOf(a.mode) - COLLABORATION_MODES.indexOf(b.mode);

/** The person who used the code: a user with an account or a guest. */
export type Participant = { readonly userId: string; readonly username: string; readonly joinedAt: Date };

/**
 * A main terminal that its owner shares with users who have the code.
 *
 *   live --owner ends it, it expires, container or owner is gone--> ended
 *   a participant: absent --join--> present --leave, end--> absent
 *                                   present --removed by the owner--> absent for good
 */
export type Collaboration = {
  readonly id: string;
  readonly dbId: string;
  readonly ownerId: string;
  readonly mode: CollaborationMode;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
  /** In order of joining. */
  readonly participants: readonly Participant[];
  /** Ids of users whom the owner removed. */
  readonly removed: readonly string[];
};

export type CollaborationEvent =
  | { readonly type: 'join'; readonly userId: string; readonly now: Date }
  /** The owner ends it, or a participant leaves. */
  | { readonly type: 'delete'; readonly userId: string }
  /** The owner removes a participant. */
  | { readonly type: 'put_out'; readonly by: string; readonly userId: string }
  | { readonly type: 'time_over' };

export type CollaborationEffect =
  | { readonly do: 'admit'; readonly userId: string }
  | { readonly do: 'dismiss'; readonly userId: string }
  /** As `dismiss`, and never admitted again. */
  | { readonly do: 'put_out'; readonly userId: string }
  | { readonly do: 'end' }
  /** `userId`: the actor. `participantId`: the participant concerned. */
  | {
      readonly do: 'record';
      readonly action: AuditAction;
      readonly userId: string;
      readonly participantId?: string;
    }
  /** Every process closes the sockets of former participants and sends the others the new list. */
  | { readonly do: 'announce' }
  /** End these users' sessions in the container. */
  | { readonly do: 'end_sessions'; readonly userIds: readonly string[] };

const NOT_FOUND = refuse({ code: 'collaboration_not_found' } as const);

const isLive = ({ endedAt, expiresAt }: Pick<Collaboration, 'endedAt' | 'expiresAt'>, now: Date): boolean =>
  endedAt === null && expiresAt > now;

/** The effects of an event, or its refusal. An event that changes nothing has no effects. */
export function decideCollaboration(
  collaboration: Collaboration,
  event: CollaborationEvent,
): Result<readonly CollaborationEffect[], DomainError> {
  switch (event.type) {
    case 'join':
      return join(collaboration, event.userId, event.now);
    case 'delete':
      return event.userId === collaboration.ownerId
        ? ok(ending(collaboration))
        : leave(collaboration, event.userId);
    case 'put_out':
      return putOut(collaboration, event.by, event.userId);
    case 'time_over':
      return ok(ending(collaboration));
  }
}

const isParticipant = ({ participants }: Collaboration, userId: string): boolean =>
  participants.some((one) => one.userId === userId);

function join(
  collaboration: Collaboration,
  userId: string,
  now: Date,
): Result<readonly CollaborationEffect[], DomainError> {
  if (!isLive(collaboration, now) || collaboration.removed.includes(userId)) return NOT_FOUND;
  if (userId === collaboration.ownerId || isParticipant(collaboration, userId)) return ok([]);
  return ok([
    { do: 'admit', userId },
    { do: 'record', action: 'collaboration_joined', userId },
  ]);
}

function leave(
  collaboration: Collaboration,
  userId: string,
): Result<readonly CollaborationEffect[], DomainError> {
  if (collaboration.endedAt !== null || !isParticipant(collaboration, userId)) return NOT_FOUND;
  return ok([
    { do: 'dismiss', userId },
    { do: 'record', action: 'collaboration_left', userId },
    { do: 'announce' },
    ...endSessions(collaboration, [userId]),
  ]);
}

function putOut(
  collaboration: Collaboration,
  by: string,
  userId: string,
): Result<readonly CollaborationEffect[], DomainError> {
  const { ownerId, endedAt } = collaboration;
  if (by !== ownerId || endedAt !== null || !isParticipant(collaboration, userId)) return NOT_FOUND;
  const action = 'collaboration_participant_removed';
  return ok([
    { do: 'put_out', userId },
    { do: 'record', action, userId: ownerId, participantId: userId },
    { do: 'announce' },
    ...endSessions(collaboration, [userId]),
  ]);
}

function ending(collaboration: Collaboration): readonly CollaborationEffect[] {
  const { ownerId, endedAt, participants } = collaboration;
  if (endedAt !== null) return [];
  return [
    { do: 'end' },
    { do: 'record', action: 'collaboration_ended', userId: ownerId },
    { do: 'announce' },
    ...endSessions(
      collaboration,
      participants.map(({ userId }) => userId),
    ),
  ];
}

/** A viewer has no session. */
const endSessions = ({ mode }: Collaboration, userIds: readonly string[]): readonly CollaborationEffect[] =>
  mode === 'control' && userIds.length > 0 ? [{ do: 'end_sessions', userIds }] : [];

export const MAX_COLLABORATIONS = 10;
export const DEFAULT_MINUTES = 60;
export const MAX_MINUTES = 1440;

export const minutesFaults = (minutes: number): FieldFaults =>
  Number.isInteger(minutes) && minutes >= 1 && minutes <= MAX_MINUTES
    ? {}
    : { expiresInMinutes: `must be a whole number from 1 to ${MAX_MINUTES}` };

/** The multiplexer session of a participant in `control`: grouped with the owner's, but ending alone. */
export const participantSession = (userId: string): string => `user-${userId}`;

/** A user's access to a container's shared terminals: the most permissive one. */
export type SharedAccess = { readonly collaborationId: string; readonly mode: CollaborationMode };
