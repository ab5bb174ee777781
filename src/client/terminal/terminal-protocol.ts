/** Where the page finds a terminal, and what a close of its socket means. Pure. */

import type { CloseReason } from '../../domain/terminals/terminal.ts';
import { CLOSE_CODES } from '../../protocol/close-codes.ts';

export type Size = { readonly cols: number; readonly rows: number };

/** Where a lost connection left off: the stream's name and the count of output bytes received. */
export type ResumePoint = { readonly stream: string; readonly after: number };

/** Where a terminal was left, in both directions, for a return from any process. */
export type StreamPoint = ResumePoint & {
  /** Where `input` begins. */
  readonly inputOffset: number;
  /** Input that may not have arrived. */
  readonly input: Uint8Array;
};

export type TerminalAddress = {
  readonly containerId: string;
  readonly connectionId: string;
  readonly size: Size;
  readonly resume: ResumePoint | null;
  /** Forces a new multiplexer session. */
  readonly fresh: boolean;
  readonly watch?: boolean;
  readonly record?: boolean;
};

/** Path and query of a terminal. The credential is a subprotocol, never part of the address. */
export function terminalPath(address: TerminalAddress): string {
  const { containerId, connectionId, size, resume, fresh, watch, record } = address;
  const pane = { connection_id: connectionId, cols: String(size.cols), rows: String(size.rows) };
  const resumed = resume === null ? {} : { stream: resume.stream, after: String(resume.after) };
  const wishes = { ...(watch && { mode: 'view' }), ...(record && { record: 'true' }) };
  const query = new URLSearchParams({ ...pane, ...wishes, ...(fresh ? { new: 'true' } : resumed) });
  return `/api/containers/${encodeURIComponent(containerId)}/terminal?${query}`;
}

/** Why a terminal is over until the user does something about it. */
export type EndReason =
  | 'ended'
  | 'replaced'
  | 'closed'
  | 'unauthorized'
  | 'collaboration_ended'
  | 'deleted'
  | 'stopped'
  | 'refused';

/**
 * Why the service refuses a terminal for now: others open first, too many of the user or of the network are open, too
 * many requests, or a shared terminal without tmux.
 */
export type RefusalTrouble = 'busy' | 'too_many' | 'address' | 'rate' | 'no_tmux';

/**
 * What keeps a terminal away for a while: the line to the service, the shell behind it, no room for a shell, a container
 * in which nothing starts, the service's database, or a refusal.
 */
export type Trouble = 'line' | 'shell' | 'processes' | 'unresponsive' | 'database' | RefusalTrouble;

/** `probe`: the service refused this credential; a request shows whether it is still good for anything else. */
export type CloseMeaning =
  | { readonly do: 'end'; readonly why: EndReason }
  | { readonly do: 'retry'; readonly trouble: Trouble }
  | { readonly do: 'probe' };

/** The service lost the stream, and the program runs on. */
export const DETACHED = CLOSE_CODES.detached;

const LOST_LINE: CloseMeaning = { do: 'retry', trouble: 'line' };

const MEANINGS = {
  ended: { do: 'end', why: 'ended' },
  replaced: { do: 'end', why: 'replaced' },
  unauthorized: { do: 'probe' },
  'collaboration ended': { do: 'end', why: 'collaboration_ended' },
  'container deleted': { do: 'end', why: 'deleted' },
  'container stopped': { do: 'end', why: 'stopped' },
  'container restarted': LOST_LINE,
  'service restarting': LOST_LINE,
  'input gap': LOST_LINE,
  'too slow': LOST_LINE,
  'failed to open terminal': { do: 'retry', trouble: 'shell' },
  detached: { do: 'retry', trouble: 'shell' },
  'too many processes': { do: 'retry', trouble: 'processes' },
  'container unresponsive': { do: 'retry', trouble: 'unresponsive' },
  'try again later': { do: 'retry', trouble: 'database' },
} as const satisfies Readonly<Record<CloseReason, CloseMeaning>>;

const REASONS = Object.keys(MEANINGS) as readonly CloseReason[];

/** What to do about a close. Any other code is a lost line, and worth a retry. */
export function meaningOfClose(code: number, reason: string): CloseMeaning {
  if (code === CLOSE_CODES.replaced && reason === 'replaced') return MEANINGS.replaced;
  const first = REASONS.find((each) => CLOSE_CODES[each] === code);
  return first === undefined ? LOST_LINE : MEANINGS[first];
}

/** The notice when the service's count of input differs from this client's. */
export const doubtfulInput = (bytes: number): string =>
  `${bytes} bytes of input may be lost: the service has counted input of another client, or wrongly`;
