import type { Container } from '../../domain/containers/container.ts';
import type { ContainerRef } from '../../domain/containers/container-ref.ts';
import type { Collaboration, SharedAccess } from '../../domain/terminals/collaboration.ts';
import type { TerminalSize } from '../../domain/terminals/terminal.ts';

export type SharedContainer = { readonly container: Container; readonly access: SharedAccess };

/** A container that a user may see. `access`: the share; null for the owner. */
export type VisibleContainer = { readonly container: Container; readonly access: SharedAccess | null };

/** A user with a terminal of a shared container open. */
export type PresentPerson = {
  readonly userId: string;
  readonly username: string;
  readonly owner: boolean;
  readonly mode: Collaboration['mode'];
};

/** `size`: the owner's window; null while the owner is away. */
export type SharedScene = { readonly size: TerminalSize | null; readonly present: readonly PresentPerson[] };

/** Containers that live collaborations share. */
export interface SharedContainerRepository {
  /** The live container shared with this user, with the most permissive access. */
  findFor(userId: string, ref: ContainerRef): Promise<SharedContainer | null>;
  /** The user's own live containers, then those shared with the user, each newest first; in one round trip. */
  listVisible(userId: string): Promise<readonly VisibleContainer[]>;
  isShared(dbId: string): Promise<boolean>;
  /** null when no live collaboration shares the container. */
  scene(dbId: string): Promise<SharedScene | null>;
  /** Sets the size of the owner's window in every live collaboration of the container. */
  noteSize(dbId: string, size: TerminalSize | null): Promise<void>;
}
