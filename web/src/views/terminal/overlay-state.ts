import type { ConnectionState, LineHealth } from '../../../../src/client/terminal/connection-types.ts';
import type { EndReason, Trouble } from '../../../../src/client/terminal/terminal-protocol.ts';
import type { Container } from '../../api/types.ts';
import type { Reach } from '../../lib/browser/server-reachability.ts';

/** The container, or that it is not known yet, or that there is none (any more). */
export type Known = Container | 'unknown' | 'gone';

/** `before`: what it was called when it was known. */
export const nameOf = (known: Known, before = 'the container'): string =>
  typeof known === 'object' ? known.name : before;

export type Overlay =
  | { readonly kind: 'none' }
  | { readonly kind: 'connecting' }
  | { readonly kind: 'preparing'; readonly status: Container['status'] }
  /** The line is down, or may be. `retryInMs` is null while a try is under way, and while nothing was given up yet. */
  | {
      readonly kind: 'lost';
      readonly how: 'offline' | 'no_answer' | Trouble;
      readonly retryInMs: number | null;
      readonly everOpen: boolean;
      /** Typed, kept and sent when the line is back. */
      readonly unsentCharacters: number;
    }
  | { readonly kind: 'over'; readonly why: EndReason; readonly exitCode: number | null };

const PREPARING: readonly Container['status'][] = ['creating', 'starting', 'updating'];

/** Whether a terminal may be opened on what is known. */
export const canConnect = (known: Known): boolean => typeof known === 'object' && known.status === 'running';

/** Whether a deleted container exists again. A status from before the delete does not count. */
const isRestored = (known: Known): boolean =>
  typeof known === 'object' && ['stopped', 'failed', 'starting', 'creating'].includes(known.status);

/** Whether the reason for the end no longer holds: a deleted container was restored, or a stopped one was deleted. */
const isOutdated = (why: EndReason, known: Known): boolean =>
  (why === 'deleted' && isRestored(known)) || (why === 'stopped' && known === 'gone');

function beforeConnect(known: Known): Overlay {
  if (known === 'gone') return { kind: 'over', why: 'deleted', exitCode: null };
  if (known === 'unknown' || known.status === 'running') return { kind: 'connecting' };
  if (PREPARING.includes(known.status)) return { kind: 'preparing', status: known.status };
  return { kind: 'over', why: 'stopped', exitCode: null };
}

/** The state of a terminal's connection. */
export type LineFacts = {
  readonly connection: ConnectionState | null;
  readonly everOpen: boolean;
  readonly health: LineHealth;
  readonly reach: Reach;
};

function lost(
  { health, reach, everOpen }: LineFacts,
  why: 'no_answer' | Trouble,
  retryInMs: number | null,
): Overlay {
  const how = reach === 'offline' ? 'offline' : why;
  return { kind: 'lost', how, retryInMs, everOpen, unsentCharacters: health.unsentCharacters };
}

/** Whether a trouble's words say what to do, so that they show before the first connection too. */
const IS_SHOWN_AT_ONCE = {
  line: false,
  shell: false,
  processes: true,
  unresponsive: true,
  busy: true,
  too_many: true,
  address: true,
  rate: true,
  no_tmux: true,
  database: true,
} satisfies Readonly<Record<Trouble, boolean>>;

/** The overlay of the terminal. */
export function overlayOf(facts: LineFacts, known: Known): Overlay {
  const { connection, everOpen, health, reach } = facts;
  if (connection === null) return beforeConnect(known);
  const trouble = 'trouble' in connection ? connection.trouble : 'line';
  switch (connection.kind) {
    case 'open':
      return health.answers ? { kind: 'none' } : lost(facts, 'no_answer', null);
    case 'connecting':
      return everOpen || IS_SHOWN_AT_ONCE[trouble] || reach === 'offline'
        ? lost(facts, trouble, null)
        : { kind: 'connecting' };
    case 'waiting':
      return lost(facts, trouble, connection.delayMs);
    case 'over':
      if (isOutdated(connection.why, known)) return beforeConnect(known);
      return { kind: 'over', why: connection.why, exitCode: connection.exitCode };
  }
}

/** Whether an end is the container's or the session's, so that it is true of each pane. */
const IS_COMMON = {
  stopped: true,
  deleted: true,
  unauthorized: true,
  refused: true,
  collaboration_ended: true,
  ended: false,
  replaced: false,
  closed: false,
} satisfies Readonly<Record<EndReason, boolean>>;

const isCommonEnd = (overlay: Overlay): boolean => overlay.kind === 'over' && IS_COMMON[overlay.why];

/** One overlay for all panes; null when each has its own. */
export function commonOverlay(overlays: readonly Overlay[]): Overlay | null {
  const [first] = overlays;
  const commonEnd = overlays.find(isCommonEnd);
  if (commonEnd !== undefined || first === undefined) return commonEnd ?? null;
  const isCommon = first.kind !== 'over' && overlays.every(({ kind }) => kind === first.kind);
  if (!isCommon) return null;
  return first.kind === 'lost' ? { ...first, unsentCharacters: unsentIn(overlays) } : first;
}

const unsentIn = (overlays: readonly Overlay[]): number =>
  overlays.reduce((sum, one) => sum + (one.kind === 'lost' ? one.unsentCharacters : 0), 0);
