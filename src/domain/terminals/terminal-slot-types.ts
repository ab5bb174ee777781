import type { CloseReason } from './terminal.ts';

/**
 * The state of one terminal key: a stream (a program's terminal in the engine, by its id) and the socket that shows it.
 * Sockets have ids, so the late close of a replaced one is distinguished from the close of the present one.
 *
 *   empty --connect--> opening --opened--> attached --connection lost--> kept --connect--> attached
 *     ^                   |                   |                           |
 *     +--open failed------+-------------------+--closed for good----------+--not resumed in time
 *
 * A session whose stream broke with its engine outlives failed attempts to show it again: then `opening` returns to `kept`.
 */
export type Slot =
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'opening';
      readonly stream: string;
      readonly watcher: Watcher;
      /** A broken stream of the same session, which ends once another one shows it. */
      readonly replaces?: RunningStream;
    }
  | ({ readonly kind: 'attached'; readonly socket: string } & RunningStream)
  | ({ readonly kind: 'kept'; readonly untilMs: number } & RunningStream);

/**
 * `over`: the stream has ended, but its last output may be unseen. `detached`: its program may run on, and only another
 * stream shows it. `known`: a client may return, because one learned of the stream or saw its program before.
 */
export type RunningStream = {
  readonly stream: string;
  readonly muxed: boolean;
  readonly over: boolean;
  readonly detached: boolean;
  readonly known: boolean;
};

/** Whose stream is being opened: a socket's, or a client's that left. */
type Watcher = { readonly socket: string } | { readonly left: Leaving };

/**
 * `deliberate`: the client closed its terminal. `expelled`: it lost the right to it, for example by a screen lock.
 * `lost`: any other disconnect. After the last two it may return.
 */
export type Leaving = 'deliberate' | 'expelled' | 'lost';

export type SlotEvent =
  | {
      readonly type: 'connect';
      readonly socket: string;
      /** The id for a new stream. */
      readonly fresh: string;
      /** The stream to resume. */
      readonly resumes: string | null;
      readonly forceNew: boolean;
      /** Whether the present stream is for viewing and the socket for typing, or the reverse. */
      readonly otherMode: boolean;
    }
  | {
      readonly type: 'opened';
      readonly stream: string;
      readonly muxed: boolean;
      /** Whether its program is new. */
      readonly isNew: boolean;
      readonly nowMs: number;
    }
  /** The socket's client knows the stream. */
  | { readonly type: 'shown'; readonly socket: string }
  | { readonly type: 'open_failed'; readonly stream: string; readonly fault: unknown; readonly nowMs: number }
  | {
      readonly type: 'left';
      readonly socket: string;
      readonly how: Leaving;
      readonly nowMs: number;
    }
  | { readonly type: 'program_ended'; readonly stream: string }
  | { readonly type: 'detached'; readonly stream: string }
  | { readonly type: 'tick'; readonly nowMs: number }
  /** Another process has opened the same terminal. */
  | { readonly type: 'taken'; readonly nowMs: number }
  /** The container or the service stops. `isParticipant`: it is a participant's terminal. */
  | { readonly type: 'shut'; readonly reason: CloseReason; readonly isParticipant: boolean };

export type SlotEffect =
  | { readonly do: 'open'; readonly stream: string; readonly socket: string; readonly forceNew: boolean }
  | { readonly do: 'attach'; readonly stream: string; readonly socket: string }
  | { readonly do: 'refuse'; readonly socket: string; readonly fault: unknown }
  | { readonly do: 'close_socket'; readonly socket: string; readonly reason: CloseReason }
  /** `withContainer`: the whole container goes down. */
  | { readonly do: 'end_stream'; readonly stream: string; readonly withContainer: boolean };

export type SlotStep = { readonly slot: Slot; readonly effects: readonly SlotEffect[] };
