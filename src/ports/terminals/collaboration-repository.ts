import type { Collaboration } from '../../domain/terminals/collaboration.ts';

export type NewCollaboration = Pick<Collaboration, 'id' | 'dbId' | 'ownerId' | 'mode'> & {
  readonly codeHash: Buffer;
  readonly minutes: number;
};

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
  end(id: string): Promise<void>;
  /** Ends those of a container; returns them without participants. */
  endAllOf(dbId: string): Promise<readonly Collaboration[]>;
}
