import { CLOSE, type CloseReason } from './terminal.ts';
import { forParticipant } from './terminal-close-reason.ts';

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
 * and only another stream shows it. `known`: a client may come back for it, as one was told of the stream, or saw what it
 * shows through another one.
 */
type Running = {
  readonly stream: string;
  readonly muxed: boolean;
  readonly over: boolean;
  readonly detached: boolean;
  readonly known: boolean;
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
  | {
      readonly type: 'opened';
      readonly stream: string;
      readonly muxed: boolean;
      /** What it shows was not there before. */
      readonly isNew: boolean;
      readonly nowMs: number;
    }
  /** The socket's client was told of the stream. */
  | { readonly type: 'shown'; readonly socket: string }
  | { readonly type: 'open_failed'; readonly stream: string; readonly fault: unknown }
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
  /** The container goes, or the service. `takesPart`: the terminal is one of a participant. */
  | { readonly type: 'shut'; readonly reason: CloseReason; readonly isParticipant: boolean };

export type SlotEffect =
  | { readonly do: 'open'; readonly stream: string; readonly socket: string; readonly forceNew: boolean }
  | { readonly do: 'attach'; readonly stream: string; readonly socket: string }
  | { readonly do: 'refuse'; readonly socket: string; readonly fault: unknown }
  | { readonly do: 'close_socket'; readonly socket: string; readonly reason: CloseReason }
  /** `withContainer`: the container goes down, and all in it. */
  | { readonly do: 'end_stream'; readonly stream: string; readonly withContainer: boolean };

export type SlotStep = { readonly slot: Slot; readonly effects: readonly SlotEffect[] };

/** How long a terminal waits for a client whose line was lost: the main pane, and any other. */
export const KEEP_MAIN_MS = 300_000;
export const KEEP_PANE_MS = 60_000;

export const EMPTY: Slot = { kind: 'empty' };

const GOING_DOWN: readonly CloseReason[] = [
  CLOSE.containerDeleted,
  CLOSE.containerStopped,
  CLOSE.containerRestarted,
];

const step = (slot: Slot, ...effects: readonly SlotEffect[]): SlotStep => ({ slot, effects });
const endStream = (stream: string, withContainer = false): SlotEffect => ({
  do: 'end_stream',
  stream,
  withContainer,
});

/** What becomes of a slot, and what is to be done about it. Events that come too late change nothing. */
export function nextSlot(slot: Slot, event: SlotEvent, isMain: boolean): SlotStep {
  switch (event.type) {
    case 'connect':
      return connect(slot, event);
    case 'opened':
      return opened(slot, event, isMain);
    case 'shown':
      if (slot.kind !== 'attached' || slot.socket !== event.socket) return step(slot);
      return step({ ...slot, known: true });
    case 'open_failed':
      if (slot.kind !== 'opening' || slot.stream !== event.stream) return step(slot);
      return step(EMPTY, ...refusing(slot, event.fault));
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
      return step(EMPTY, endStream(slot.stream));
    case 'taken':
      return taken(slot, event, isMain);
    case 'shut':
      return shut(slot, event);
  }
}

type Event<T extends SlotEvent['type']> = Extract<SlotEvent, { type: T }>;

type Wish = Pick<Event<'connect'>, 'resumes' | 'forceNew' | 'otherMode'>;

/** Whether a socket that asks for this gets a stream of its own, which is then opened in the engine. */
export const needsOpening = (slot: Slot, wish: Wish): boolean => reusable(slot, wish) === null;

/**
 * What is there for a socket that connects, if it can have it.
 *
 * A program without a multiplexer can only be shown by the stream that it has; a multiplexer draws its screen
 * anew for every stream, so that an exact continuation is the only reason to go on with the old one. What a stream lets
 * its client do was settled when it was opened, also while it is being opened.
 */
function reusable(
  slot: Slot,
  { resumes, forceNew, otherMode }: Wish,
): Exclude<Slot, { kind: 'empty' }> | null {
  if (slot.kind === 'empty' || forceNew || otherMode) return null;
  if (slot.kind === 'opening') return slot;
  const goesOn = resumes === slot.stream || !(slot.muxed || slot.over);
  return slot.detached || !goesOn ? null : slot;
}

function connect(slot: Slot, { socket, fresh, resumes, forceNew, otherMode }: Event<'connect'>): SlotStep {
  const replaced = closing(slot, CLOSE.replaced);
  const open = { do: 'open', stream: fresh, socket, forceNew } as const;
  const anew: Slot = { kind: 'opening', stream: fresh, watcher: { socket } };
  const shown = reusable(slot, { resumes, forceNew, otherMode });
  if (shown === null) return step(anew, ...replaced, ...ending(slot), open);
  if (shown.kind === 'opening') return step({ ...shown, watcher: { socket } }, ...replaced);
  const { stream, muxed, over, detached, known } = shown;
  return step({ kind: 'attached', stream, muxed, over, detached, known, socket }, ...replaced, {
    do: 'attach',
    stream,
    socket,
  });
}

/** A multiplexer shows its main session to whoever comes next; what is new shows nothing that anybody could miss. */
function opened(slot: Slot, { stream, muxed, isNew, nowMs }: Event<'opened'>, isMain: boolean): SlotStep {
  if (slot.kind !== 'opening' || slot.stream !== stream) return step(slot, endStream(stream));
  const running = { stream, muxed, over: false, detached: false, known: !isNew && !(muxed && isMain) };
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

/**
 * The main pane's program is never ended by a close: in a multiplexer it lives on, without one it is waited for. Nobody comes
 * back for what nobody knows of.
 */
function letGo(running: Running, how: Leaving, isMain: boolean, nowMs: number): SlotStep {
  const { stream, muxed, over, detached, known } = running;
  const isDone = how === 'deliberate' && (over || muxed || !isMain);
  // A multiplexer shows it again; until then nothing reads it for somebody who may not.
  const isShownAgain = how === 'expelled' && muxed && isMain;
  if (!known || isDone || isShownAgain) return step(EMPTY, endStream(stream));
  const untilMs = nowMs + (isMain ? KEEP_MAIN_MS : KEEP_PANE_MS);
  return step({ kind: 'kept', stream, muxed, over, detached, known, untilMs });
}

function shut(slot: Slot, { reason, isParticipant }: Event<'shut'>): SlotStep {
  const closed = closing(slot, forParticipant(reason, isParticipant));
  return step(EMPTY, ...closed, ...ending(slot, GOING_DOWN.includes(reason)));
}

function socketsOf(slot: Slot): readonly string[] {
  if (slot.kind === 'attached') return [slot.socket];
  return slot.kind === 'opening' && 'socket' in slot.watcher ? [slot.watcher.socket] : [];
}

const refusing = (slot: Slot, fault: unknown): readonly SlotEffect[] =>
  socketsOf(slot).map((socket) => ({ do: 'refuse', socket, fault }));

const closing = (slot: Slot, reason: CloseReason): readonly SlotEffect[] =>
  socketsOf(slot).map((socket) => ({ do: 'close_socket', socket, reason }));

/** A stream that is still being opened is ended when it is there and nobody expects it. */
const ending = (slot: Slot, withContainer = false): readonly SlotEffect[] =>
  slot.kind === 'attached' || slot.kind === 'kept' ? [endStream(slot.stream, withContainer)] : [];
