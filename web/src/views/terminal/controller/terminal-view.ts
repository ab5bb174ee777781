import { signal } from '@preact/signals';
import {
  type ConnectionState,
  HEALTHY,
  type LineHealth,
} from '../../../../../src/client/terminal/connection-types.ts';
import type { Size } from '../../../../../src/client/terminal/terminal-protocol.ts';
import type { Participant } from '../../../../../src/protocol/terminal-frames.ts';
import { type Modifiers, NO_MODIFIERS } from '../../../terminal/keys/modifiers.ts';
import type { InnerLink } from '../../../terminal/links.ts';
import type { Found } from '../../../terminal/screen/search.ts';
import type { Zoom } from '../../../terminal/screen/zoom.ts';

export type TerminalView = Readonly<ReturnType<typeof makeView>>;

/** What the page shows around a terminal. */
export const makeView = () => ({
  connection: signal<ConnectionState | null>(null),
  health: signal<LineHealth>(HEALTHY),
  /** Whether a shell has been on the screen. */
  everOpen: signal(false),
  size: signal<Size | null>(null),
  title: signal(''),
  latencyMs: signal<number | null>(null),
  found: signal<Found | null>(null),
  link: signal<string | null>(null),
  /** An address in the container whose link was pressed, until that is answered. */
  innerLink: signal<InnerLink | null>(null),
  /** The text that a program wants to copy, until it is copied or dismissed; a newer text takes its place. */
  copyOffer: signal<string | null>(null),
  notice: signal<string | null>(null),
  /** Whether it is a plain shell because tmux could not start, until the note is dismissed. */
  plainShell: signal(false),
  readOnly: signal(false),
  /** Whether it is the user's own terminal, not one that another user shares. */
  isOwner: signal(true),
  /** Who has it open, when it is shared. */
  people: signal<readonly Participant[]>([]),
  /** Whether another window decides the size. */
  ruled: signal(false),
  /** How a shared screen is shown that is larger than this window; null where there is nothing to choose. */
  zoom: signal<Zoom | null>(null),
  /** The latched keys of the on-screen bar. */
  modifiers: signal<Modifiers>(NO_MODIFIERS),
  /** Id of the recording of this terminal; null for none. */
  recording: signal<string | null>(null),
});
