import type { CollaborationMode } from '../../domain/terminals/collaboration.ts';
import type { TerminalKey } from '../../domain/terminals/terminal.ts';
import type { RuntimeHandle } from '../../ports/containers/container-runtime.ts';
import type { Participation } from '../../ports/terminals/collaboration-repository.ts';
import type { ScreenSize } from '../../ports/terminals/headless-terminal.ts';
import type { PtyStream } from '../../ports/terminals/terminal-backend.ts';

/** Where one terminal is, and how it is opened and ended there. */
export type TerminalTarget = {
  readonly key: TerminalKey;
  /** Id of the container's row. */
  readonly dbId: string;
  /** Its container in the engine. */
  readonly handle: RuntimeHandle;
  readonly runtimeId: string;
  /** Name of its multiplexer session, where the image has a multiplexer. */
  readonly muxSession: string;
  readonly isMain: boolean;
  readonly size: ScreenSize;
  /** The part in a collaboration that the terminal rests on, and what it gives; null for the owner's own. */
  readonly participation: (Participation & { readonly mode: CollaborationMode }) | null;
  open(stream: string, forceNew: boolean): Promise<PtyStream>;
  /** `isWanted` is asked just before. */
  endSession(muxSession: string, isWanted: () => Promise<boolean>): Promise<void>;
};
