/** The browser's side of the terminal protocol: addresses, frames, and what a close means. Pure. */

import type { OnScreen, Snapshot } from '../screen/scrollback.ts';

export const SUBPROTOCOL = 'berth.terminal.v1';

export type Size = { readonly cols: number; readonly rows: number };

/** Where a lost connection left off: the stream's name and the count of output bytes received. */
export type ResumePoint = { readonly stream: string; readonly after: number };

export type ReadyFrame = {
  readonly type: 'ready';
  readonly stream: string;
  /** Offset of the first output byte to follow. */
  readonly offset: number;
  /** Count of input bytes that the service has. */
  readonly inputOffset: number;
  readonly owner: boolean;
  readonly readOnly: boolean;
  /** Whether the shell is inside a multiplexer. */
  readonly muxed: boolean;
  /** Whether it is a plain shell because the multiplexer could not start. */
  readonly fallback: boolean;
  /** When the container was last started; '' when the service does not say. */
  readonly startedAt: string;
};

/** Somebody who has the same shared terminal open. */
export type Person = {
  readonly userId: string;
  readonly username: string;
  readonly owner: boolean;
  readonly mode: 'view' | 'control';
};

export type ServerFrame =
  | ReadyFrame
  | { readonly type: 'ack'; readonly inputOffset: number }
  | { readonly type: 'pong'; readonly t: number }
  /** null: everybody has the size of their own window again. */
  | { readonly type: 'size'; readonly size: Size | null }
  | { readonly type: 'participants'; readonly people: readonly Person[] }
  | {
      readonly type: 'on_screen';
      readonly id: number;
      readonly program: OnScreen;
      readonly snapshot: Snapshot | null;
    }
  | { readonly type: 'redrawn'; readonly id: number }
  | { readonly type: 'notice'; readonly message: string }
  | { readonly type: 'recording'; readonly id: string | null }
  /** The service ends, and a close follows: it is to be tried again after so long. */
  | { readonly type: 'restarting'; readonly retryMs: number }
  | { readonly type: 'exit'; readonly code: number | null };

export type ClientFrame =
  | ({ readonly type: 'resize' } & Size)
  | { readonly type: 'ping'; readonly t: number }
  | { readonly type: 'input_from'; readonly offset: number }
  | { readonly type: 'look_back' | 'redraw'; readonly id: number };

export const encodeFrame = (frame: ClientFrame): string => JSON.stringify(frame);

type Wire = { readonly [key: string]: unknown };

const count = (value: unknown): number => (typeof value === 'number' && value >= 0 ? Math.floor(value) : 0);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const toPerson = (wire: Wire): Person => ({
  userId: text(wire['user_id']),
  username: text(wire['username']),
  owner: wire['owner'] === true,
  mode: wire['mode'] === 'control' ? 'control' : 'view',
});

function toSnapshot(value: unknown): Snapshot | null {
  if (typeof value !== 'object' || value === null) return null;
  const wire = value as Wire;
  return {
    cols: count(wire['cols']),
    rows: count(wire['rows']),
    historyRows: count(wire['history_rows']),
    cursorX: count(wire['cursor_x']),
    cursorY: count(wire['cursor_y']),
    text: text(wire['text']),
  };
}

const decoders: { readonly [T in ServerFrame['type']]: (wire: Wire) => ServerFrame } = {
  ready: (wire) => ({
    type: 'ready',
    stream: text(wire['stream']),
    offset: count(wire['offset']),
    inputOffset: count(wire['input_offset']),
    owner: wire['owner'] !== false,
    readOnly: wire['mode'] === 'view',
    muxed: typeof wire['mux_session'] === 'string',
    fallback: wire['fallback'] === true,
    startedAt: text(wire['started_at']),
  }),
  ack: (wire) => ({ type: 'ack', inputOffset: count(wire['input_offset']) }),
  pong: (wire) => ({ type: 'pong', t: count(wire['t']) }),
  size: (wire) => {
    const size = { cols: count(wire['cols']), rows: count(wire['rows']) };
    return { type: 'size', size: size.cols > 0 && size.rows > 0 ? size : null };
  },
  participants: (wire) => ({
    type: 'participants',
    people: Array.isArray(wire['participants']) ? wire['participants'].map(toPerson) : [],
  }),
  on_screen: (wire) => ({
    type: 'on_screen',
    id: count(wire['id']),
    program: wire['program'] === 'full_screen' ? 'full_screen' : 'shell',
    snapshot: toSnapshot(wire['snapshot']),
  }),
  redrawn: (wire) => ({ type: 'redrawn', id: count(wire['id']) }),
  notice: (wire) => ({ type: 'notice', message: text(wire['message']) }),
  recording: (wire) => ({ type: 'recording', id: wire['on'] === true ? text(wire['id']) : null }),
  restarting: (wire) => ({ type: 'restarting', retryMs: count(wire['retry_ms']) }),
  exit: (wire) => ({ type: 'exit', code: typeof wire['code'] === 'number' ? wire['code'] : null }),
};

const isKnown = (type: unknown): type is ServerFrame['type'] =>
  typeof type === 'string' && Object.hasOwn(decoders, type);

/** null for anything that is not a known frame: newer services may send more. */
export function decodeFrame(message: string): ServerFrame | null {
  let wire: unknown;
  try {
    wire = JSON.parse(message);
  } catch {
    return null;
  }
  if (typeof wire !== 'object' || wire === null) return null;
  const type = (wire as Wire)['type'];
  return isKnown(type) ? decoders[type](wire as Wire) : null;
}

export type TerminalAddress = {
  readonly containerId: string;
  readonly connectionId: string;
  readonly size: Size;
  readonly resume: ResumePoint | null;
  /** Forces a new multiplexer session. */
  readonly fresh: boolean;
};

/** Path and query of a terminal. The credential travels as a subprotocol, never in here. */
export function terminalPath(address: TerminalAddress): string {
  const { containerId, connectionId, size, resume, fresh } = address;
  const query = new URLSearchParams({
    connection_id: connectionId,
    cols: String(size.cols),
    rows: String(size.rows),
  });
  if (fresh) query.set('new', 'true');
  if (resume !== null && !fresh) {
    query.set('stream', resume.stream);
    query.set('after', String(resume.after));
  }
  return `/api/containers/${encodeURIComponent(containerId)}/terminal?${query}`;
}

export const subprotocols = (token: string): string[] => [SUBPROTOCOL, `bearer.${token}`];

/** Why a terminal is over for good, as long as nobody does anything about it. */
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

/** `ask`: the service shut the door on this credential; whether it still opens others must be asked. */
export type CloseMeaning =
  | { readonly do: 'end'; readonly why: EndReason }
  | { readonly do: 'retry'; readonly trouble: Trouble }
  | { readonly do: 'ask' };

/** The service lost the stream, and the program runs on. */
export const DETACHED = 4013;

const MEANINGS: Readonly<Record<number, CloseMeaning>> = {
  1011: { do: 'retry', trouble: 'shell' },
  1013: { do: 'retry', trouble: 'database' },
  4001: { do: 'ask' },
  4003: { do: 'end', why: 'collaboration_ended' },
  4004: { do: 'end', why: 'deleted' },
  4009: { do: 'end', why: 'stopped' },
  [DETACHED]: { do: 'retry', trouble: 'shell' },
  4014: { do: 'retry', trouble: 'processes' },
  4015: { do: 'retry', trouble: 'unresponsive' },
};

/** What to do about a close. Whatever is not said to be final is a lost line, and worth a retry. */
export function meaningOfClose(code: number, reason: string): CloseMeaning {
  if (code === 1000) return { do: 'end', why: reason === 'replaced' ? 'replaced' : 'ended' };
  return MEANINGS[code] ?? { do: 'retry', trouble: 'line' };
}
