import { CLOSE, type CloseReason } from './terminal.ts';

/**
 * What stands under one key of the registry: a stream (a program's terminal in the engine, by its id) and the
 * socket that shows it. Sockets have ids of their own, so that the late close of one that was replaced is told
 * from the close of the present one.
 *
 *   empty --connect--> opening --opened--> attached --line lost--> kept --connect--> attached
 *     ^                   |                   |                      |
 *     +--open failed------+-------------------+--closed for good-----+--not resumed in time
 */
export type Slot =
  | { readonly kind: 'empty' }
  | { readonly kind: 'opening'; readonly stream: string; readonly watcher: Watcher }
  | ({ readonly kind: 'attached'; readonly socket: string } & Running)
  | ({ readonly kind: 'kept'; readonly untilMs: number } & Running);

/**
 * `over`: the stream has ended; what was written last may not have been seen yet. `detached`: its program may run on,
 * and only another stream shows it.
 */
type Running = {
  readonly stream: string;
  readonly muxed: boolean;
  readonly over: boolean;
  readonly detached: boolean;
};

/** Who waits for a stream that is being opened: a socket, or nobody any more. */
type Watcher = { readonly socket: string } | { readonly left: Leaving };

/**
 * `deliberate`: the client closed its terminal. `expelled`: it lost the right to it, as by a screen lock.
 * Everything else is a lost line. After the last two a client may come back.
 */
export type Leaving = 'deliberate' | 'expelled' | 'lost';

export type SlotEvent =
  | {
      readonly type: 'connect';
      readonly socket: string;
      /** Id for the stream that is opened if one is. */
      readonly fresh: string;
      /** The stream that the client has seen part of. */
      readonly resumes: string | null;
      readonly forceNew: boolean;
      /** What is there was opened to look on, and the socket is to type, or the other way round. */
      readonly otherMode: boolean;
    }
  | { readonly type: 'opened'; readonly stream: string; readonly muxed: boolean; readonly nowMs: number }
  | { readonly type: 'open_failed'; readonly stream: string }
  | {
      readonly type: 'left';
      readonly socket: string;
      readonly how: Leaving;
      readonly nowMs: number;
    }
  | { readonly type: 'program_ended'; readonly stream: string }
  | { readonly type: 'detached'; readonly stream: string }
  | { readonly type: 'tick'; readonly nowMs: number }
  /** Another process has opened the same terminal since. */
  | { readonly type: 'taken'; readonly nowMs: number }
  /** The container goes, or the service. */
  | { readonly type: 'shut'; readonly reason: CloseReason };

export type SlotEffect =
  | { readonly do: 'open'; readonly stream: string; readonly socket: string; readonly forceNew: boolean }
  | { readonly do: 'attach'; readonly stream: string; readonly socket: string }
  | { readonly do: 'refuse'; readonly socket: string }
  | { readonly do: 'close_socket'; readonly socket: string; readonly reason: CloseReason }
  /** Ends the stream, and with `sessionToo` the multiplexer session behind it. */
  | { readonly do: 'end_stream'; readonly stream: string; readonly sessionToo: boolean };

export type SlotStep = { readonly slot: Slot; readonly effects: readonly SlotEffect[] };

/** How long a terminal waits for a client whose line was lost: the main pane, and any other. */
export const KEEP_MAIN_MS = 300_000;
export const KEEP_PANE_MS = 60_000;

export const EMPTY: Slot = { kind: 'empty' };

const step = (slot: Slot, ...effects: readonly SlotEffect[]): SlotStep => ({ slot, effects });
const endStream = (stream: string, sessionToo = false): SlotEffect => ({
  do: 'end_stream',
  stream,
  sessionToo,
});

/** What becomes of a slot, and what is to be done about it. Events that come too late change nothing. */
export function nextSlot(slot: Slot, event: SlotEvent, isMain: boolean): SlotStep {
  switch (event.type) {
    case 'connect':
      return connect(slot, event);
    case 'opened':
      return opened(slot, event, isMain);
    case 'open_failed':
      if (slot.kind !== 'opening' || slot.stream !== event.stream) return step(slot);
      return step(EMPTY, ...socketsOf(slot).map((socket) => ({ do: 'refuse', socket }) as const));
    case 'left':
      return left(slot, event, isMain);
    case 'program_ended':
      if (slot.kind === 'empty' || slot.kind === 'opening' || slot.stream !== event.stream) return step(slot);
      return step({ ...slot, over: true });
    case 'detached':
      if (slot.kind === 'empty' || slot.kind === 'opening' || slot.stream !== event.stream) return step(slot);
      return step({ ...slot, over: true, detached: true });
    case 'tick':
      if (slot.kind !== 'kept' || slot.untilMs > event.nowMs) return step(slot);
      return step(EMPTY, endStream(slot.stream, !isMain));
    case 'taken':
      return taken(slot, event, isMain);
    case 'shut':
      return step(EMPTY, ...closing(slot, event.reason), ...ending(slot));
  }
}

type Event<T extends SlotEvent['type']> = Extract<SlotEvent, { type: T }>;

/**
 * A program without a multiplexer can only be shown by the stream that it has; a multiplexer draws its screen
 * anew for every stream, so that an exact continuation is the only reason to go on with the old one. What a stream lets
 * its client do was settled when it was opened, also while it is being opened.
 */
function connect(slot: Slot, { socket, fresh, resumes, forceNew, otherMode }: Event<'connect'>): SlotStep {
  const replaced = closing(slot, CLOSE.replaced);
  const open = { do: 'open', stream: fresh, socket, forceNew } as const;
  const anew: Slot = { kind: 'opening', stream: fresh, watcher: { socket } };
  if (slot.kind === 'empty' || forceNew || otherMode) return step(anew, ...replaced, ...ending(slot), open);
  if (slot.kind === 'opening') return step({ ...slot, watcher: { socket } }, ...replaced);
  const { stream, muxed, over, detached } = slot;
  const goesOn = resumes === stream || !(muxed || over);
  if (detached || !goesOn) return step(anew, ...replaced, ...ending(slot), open);
  return step({ kind: 'attached', stream, muxed, over, detached, socket }, ...replaced, {
    do: 'attach',
    stream,
    socket,
  });
}

function opened(slot: Slot, { stream, muxed, nowMs }: Event<'opened'>, isMain: boolean): SlotStep {
  if (slot.kind !== 'opening' || slot.stream !== stream) return step(slot, endStream(stream));
  const running = { stream, muxed, over: false, detached: false };
  if ('left' in slot.watcher) return letGo(running, slot.watcher.left, isMain, nowMs);
  const { socket } = slot.watcher;
  return step({ kind: 'attached', socket, ...running }, { do: 'attach', stream, socket });
}

function left(slot: Slot, { socket, how, nowMs }: Event<'left'>, isMain: boolean): SlotStep {
  if (!socketsOf(slot).includes(socket)) return step(slot);
  if (slot.kind === 'opening') return step({ ...slot, watcher: { left: how } });
  if (slot.kind !== 'attached') return step(slot);
  return letGo(slot, how, isMain, nowMs);
}

/** What has no multiplexer can be shown by nobody else, so it waits for whoever comes back to it. */
function taken(slot: Slot, { nowMs }: Event<'taken'>, isMain: boolean): SlotStep {
  const replaced = closing(slot, CLOSE.replaced);
  if (slot.kind === 'empty' || slot.kind === 'opening' || slot.muxed)
    return step(EMPTY, ...replaced, ...ending(slot));
  if (slot.kind === 'kept') return step(slot);
  const { slot: waiting, effects } = letGo(slot, 'lost', isMain, nowMs);
  return step(waiting, ...replaced, ...effects);
}

/** The main pane's program is never ended by a close: in a multiplexer it lives on, without one it is waited for. */
function letGo(running: Running, how: Leaving, isMain: boolean, nowMs: number): SlotStep {
  const { stream, muxed, over, detached } = running;
  const isDone = how === 'deliberate' && (over || muxed || !isMain);
  // A multiplexer shows it again; until then nothing reads it for somebody who may not.
  const isShownAgain = how === 'expelled' && muxed && isMain;
  if (isDone || isShownAgain) return step(EMPTY, endStream(stream, !isMain));
  const untilMs = nowMs + (isMain ? KEEP_MAIN_MS : KEEP_PANE_MS);
  return step({ kind: 'kept', stream, muxed, over, detached, untilMs });
}

function socketsOf(slot: Slot): readonly string[] {
  if (slot.kind === 'attached') return [slot.socket];
  return slot.kind === 'opening' && 'socket' in slot.watcher ? [slot.watcher.socket] : [];
}

const closing = (slot: Slot, reason: CloseReason): readonly SlotEffect[] =>
  socketsOf(slot).map((socket) => ({ do: 'close_socket', socket, reason }));

/** A stream that is still being opened is ended when it is there and nobody expects it. */
const ending = (slot: Slot): readonly SlotEffect[] =>
  slot.kind === 'attached' || slot.kind === 'kept' ? [endStream(slot.stream)] : [];
