/** Where the page finds a terminal, and what a close of its socket means. Pure. */

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
 * What keeps a terminal away for a while: the line to the service, the shell behind it, no room for a shell, a container in
 * which nothing starts, others that are opened before it, the limits of the user, or the service's database.
 */
export type Trouble =
  | 'line'
  | 'shell'
  | 'processes'
  | 'unresponsive'
  | 'busy'
  | 'too_many'
  | 'rate'
  | 'database';

/** `probe`: the service refused this credential; a request shows whether it is still good for anything else. */
export type CloseMeaning =
  | { readonly do: 'end'; readonly why: EndReason }
  | { readonly do: 'retry'; readonly trouble: Trouble }
  | { readonly do: 'probe' };

/** The service lost the stream, and the program runs on. */
export const DETACHED = CLOSE_CODES.detached;

const MEANINGS: Readonly<Record<number, CloseMeaning>> = {
  [CLOSE_CODES['failed to open terminal']]: { do: 'retry', trouble: 'shell' },
  [CLOSE_CODES['try again later']]: { do: 'retry', trouble: 'database' },
  [CLOSE_CODES.unauthorized]: { do: 'probe' },
  [CLOSE_CODES['collaboration ended']]: { do: 'end', why: 'collaboration_ended' },
  [CLOSE_CODES['container deleted']]: { do: 'end', why: 'deleted' },
  [CLOSE_CODES['container stopped']]: { do: 'end', why: 'stopped' },
  [DETACHED]: { do: 'retry', trouble: 'shell' },
  [CLOSE_CODES['too many processes']]: { do: 'retry', trouble: 'processes' },
  [CLOSE_CODES['container unresponsive']]: { do: 'retry', trouble: 'unresponsive' },
};

/** What to do about a close. Any other code is a lost line, and worth a retry. */
export function meaningOfClose(code: number, reason: string): CloseMeaning {
  if (code === CLOSE_CODES.ended) return { do: 'end', why: reason === 'replaced' ? 'replaced' : 'ended' };
  return MEANINGS[code] ?? { do: 'retry', trouble: 'line' };
}
