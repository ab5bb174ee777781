import type { CollaborationMode } from '../../../domain/terminals/collaboration.ts';
import type { TerminalKey, TerminalSize } from '../../../domain/terminals/terminal.ts';
import type { RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { Participation } from '../../../ports/terminals/participation-repository.ts';
import type { PtyStream, TerminalRequest } from '../../../ports/terminals/terminal-backend.ts';

/** What differs between the openings of one target. */
export type TerminalStart = Pick<TerminalRequest, 'marker' | 'forceNew' | 'startAfter' | 'onStarted'>;

/** A terminal's location, with the functions to open and end it. */
export type TerminalTarget = {
  readonly key: TerminalKey;
  readonly userId: string;
  readonly dbId: string;
  /** Its container in the engine. */
  readonly handle: RuntimeHandle;
  readonly runtimeId: string;
  /** Its multiplexer session, if the image has a multiplexer. */
  readonly muxSession: string;
  readonly isMain: boolean;
  readonly size: TerminalSize;
  /** The participation that the terminal depends on, and its mode; null for the owner's own. */
  readonly participation: (Participation & { readonly mode: CollaborationMode }) | null;
  open(start: TerminalStart): Promise<PtyStream>;
  /** Calls `isWanted` just before. */
  endSession(muxSession: string, isWanted: () => Promise<boolean>): Promise<void>;
};
