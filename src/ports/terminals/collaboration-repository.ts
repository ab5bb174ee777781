import type { Container } from '../../domain/containers/container.ts';
import type { ContainerRef } from '../../domain/containers/container-ref.ts';
import type { Collaboration, SharedAccess } from '../../domain/terminals/collaboration.ts';
import type { TerminalSize } from '../../domain/terminals/terminal.ts';

export type NewCollaboration = Pick<Collaboration, 'id' | 'dbId' | 'ownerId' | 'mode'> & {
  readonly codeHash: Buffer;
  readonly minutes: number;
};

/** Somebody's part in a collaboration. */
export type Participation = { readonly collaborationId: string; readonly userId: string };

export type SharedContainer = { readonly container: Container; readonly access: SharedAccess };

/** Who has a terminal of a shared container open now. */
export type PresentPerson = {
  readonly userId: string;
  readonly username: string;
  readonly owner: boolean;
  readonly mode: Collaboration['mode'];
};

/** `size`: that of the owner's window; null while the owner is away. */
export type SharedScene = { readonly size: TerminalSize | null; readonly present: readonly PresentPerson[] };

/**
 * Shared terminals. One is live until it is ended, its time is over, its container is deleted or its owner may open
 * nothing any more; that is judged by the clock of the storage.
 */
export interface CollaborationRepository {
  insert(collaboration: NewCollaboration): Promise<Collaboration>;
  /** Ended ones too. Nobody else changes it until the transaction ends. */
  findForUpdate(id: string): Promise<Collaboration | null>;
  find(id: string): Promise<Collaboration | null>;
  /** The live one of this code, locked like `findForUpdate` does, and its container with it. */
  findByCodeForUpdate(codeHash: Buffer): Promise<Collaboration | null>;
  /** The live ones of a container of this owner's, newest first. */
  listLive(dbId: string, ownerId: string): Promise<readonly Collaboration[]>;
  /** From now on; what happened before is not for them, nor what happens while they are away. Comes again is success. */
  admit(participation: Participation): Promise<void>;
  dismiss(participation: Participation): Promise<void>;
  /** Dismisses for good: the collaboration names the user among the removed from now on. */
  putOut(participation: Participation): Promise<void>;
  end(id: string): Promise<void>;
  /** Those of a container that nobody has ended yet, ended; without who takes part. */
  endAllOf(dbId: string): Promise<readonly Collaboration[]>;
  /** Ids of those that are live no more, and that nobody has ended yet. */
  overdue(): Promise<readonly string[]>;
  /** Ids of those that ended, and whose sessions may still be there. */
  awaitingCleanUp(): Promise<readonly string[]>;
  markCleanedUp(id: string): Promise<void>;
  /** Users that ever took part in this one, and in no other live one of its container that lets them type. */
  leftovers(id: string): Promise<readonly string[]>;

  /** The live container that is shared with this user, with the most that is given. */
  findShared(ref: ContainerRef, userId: string): Promise<SharedContainer | null>;
  /** All of them, newest container first. */
  listShared(userId: string): Promise<readonly SharedContainer[]>;
  /** Those of these parts that are taken still. */
  stillActive(participations: readonly Participation[]): Promise<readonly Participation[]>;
  isShared(dbId: string): Promise<boolean>;
  /** null when no live collaboration shares the container. */
  scene(dbId: string): Promise<SharedScene | null>;
  /** The size of the owner's window, in every live collaboration of the container. */
  noteSize(dbId: string, size: TerminalSize | null): Promise<void>;
}
