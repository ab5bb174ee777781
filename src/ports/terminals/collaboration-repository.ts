import type { Container } from '../../domain/containers/container.ts';
import type { ContainerRef } from '../../domain/containers/container-ref.ts';
import type { Collaboration, SharedAccess } from '../../domain/terminals/collaboration.ts';
import type { TerminalSize } from '../../domain/terminals/terminal.ts';

export type NewCollaboration = Pick<Collaboration, 'id' | 'dbId' | 'ownerId' | 'mode'> & {
  readonly codeHash: Buffer;
  readonly minutes: number;
};

/** A user's participation in a collaboration. */
export type Participation = { readonly collaborationId: string; readonly userId: string };

export type SharedContainer = { readonly container: Container; readonly access: SharedAccess };

/** A user with a terminal of a shared container open. */
export type PresentPerson = {
  readonly userId: string;
  readonly username: string;
  readonly owner: boolean;
  readonly mode: Collaboration['mode'];
};

/** `size`: the owner's window; null while the owner is away. */
export type SharedScene = { readonly size: TerminalSize | null; readonly present: readonly PresentPerson[] };

/**
 * Shared terminals. One is live until it is ended, it expires, its container is deleted or its owner may open no
 * terminals, by the storage's clock.
 */
export interface CollaborationRepository {
  insert(collaboration: NewCollaboration): Promise<Collaboration>;
  /** Ended ones too. Locked until the transaction ends. */
  findForUpdate(id: string): Promise<Collaboration | null>;
  find(id: string): Promise<Collaboration | null>;
  /** The live one with this code, locked like `findForUpdate`, and its container. */
  findByCodeForUpdate(codeHash: Buffer): Promise<Collaboration | null>;
  /** The live ones of an owner's container, newest first. */
  listLive(dbId: string, ownerId: string): Promise<readonly Collaboration[]>;
  /** Counts from now on: earlier events, and those during an absence, are not visible. Repeating it succeeds. */
  admit(participation: Participation): Promise<void>;
  dismiss(participation: Participation): Promise<void>;
  /** Dismisses for good: adds the user to the collaboration's removed ones. */
  putOut(participation: Participation): Promise<void>;
  end(id: string): Promise<void>;
  /** Ends those of a container; returns them without participants. */
  endAllOf(dbId: string): Promise<readonly Collaboration[]>;
  /** Ids of those no longer live but not ended. */
  overdue(): Promise<readonly string[]>;
  /** Ids of ended ones whose sessions may remain. */
  awaitingCleanUp(): Promise<readonly string[]>;
  markCleanedUp(id: string): Promise<void>;
  /** Users who ever took part in this one and may type in no other live one of its container. */
  leftovers(id: string): Promise<readonly string[]>;

  /** The live container shared with this user, with the most permissive access. */
  findShared(ref: ContainerRef, userId: string): Promise<SharedContainer | null>;
  /** All of them, newest container first. */
  listShared(userId: string): Promise<readonly SharedContainer[]>;
  /** The parts that are still live. */
  stillActive(participations: readonly Participation[]): Promise<readonly Participation[]>;
  isShared(dbId: string): Promise<boolean>;
  /** null when no live collaboration shares the container. */
  scene(dbId: string): Promise<SharedScene | null>;
  /** Sets the size of the owner's window in every live collaboration of the container. */
  noteSize(dbId: string, size: TerminalSize | null): Promise<void>;
}
