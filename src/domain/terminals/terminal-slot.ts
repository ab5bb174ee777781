import { CLOSE, type CloseReason } from './terminal.ts';
import { forParticipant } from './terminal-close-reason.ts';

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
      readonly replaces?: Running;
    }
  | ({ readonly kind: 'attached'; readonly socket: string } & Running)
  | ({ readonly kind: 'kept'; readonly untilMs: number } & Running);

/**
 * `over`: the stream has ended, but its last output may be unseen. `detached`: its program may run on, and only another
 * stream shows it. `known`: a client may return, because one was told of the stream or saw its program before.
 */
type Running = {
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
  /** The socket's client was told of the stream. */
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

/** How long the main pane, and any other, waits for a lost client. */
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

/** The next state of a slot, and its effects. Late events change nothing. */
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
      return openFailed(slot, event, isMain);
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

type ConnectOptions = Pick<Event<'connect'>, 'resumes' | 'forceNew' | 'otherMode'>;

/** Whether the socket needs a new stream, to be opened in the engine. */
export const needsOpening = (slot: Slot, options: ConnectOptions): boolean =>
  reusable(slot, options) === null;

/**
 * The stream that a connecting socket can take over, if any.
 *
 * A program without a multiplexer has only its one stream. A multiplexer redraws its screen for each new stream, so
 * only an exact resume takes over the old one. A stream's mode is fixed when its opening starts.
 */
function reusable(
  slot: Slot,
  { resumes, forceNew, otherMode }: ConnectOptions,
): Exclude<Slot, { kind: 'empty' }> | null {
  if (slot.kind === 'empty' || forceNew || otherMode) return null;
  if (slot.kind === 'opening') return slot;
  const goesOn = resumes === slot.stream || !(slot.muxed || slot.over);
  return slot.detached || !goesOn ? null : slot;
}

function connect(slot: Slot, { socket, fresh, resumes, forceNew, otherMode }: Event<'connect'>): SlotStep {
  const replaced = closing(slot, CLOSE.replaced);
  const open = { do: 'open', stream: fresh, socket, forceNew } as const;
  const opening: Slot = { kind: 'opening', stream: fresh, watcher: { socket } };
  const shown = reusable(slot, { resumes, forceNew, otherMode });
  const replaces = forceNew || otherMode ? null : brokenOf(slot);
  if (replaces !== null) return step({ ...opening, replaces }, ...replaced, open);
  if (shown === null) return step(opening, ...replaced, ...ending(slot), open);
  if (shown.kind === 'opening') return step({ ...shown, watcher: { socket } }, ...replaced);
  const { stream, muxed, over, detached, known } = shown;
  return step({ kind: 'attached', stream, muxed, over, detached, known, socket }, ...replaced, {
    do: 'attach',
    stream,
    socket,
  });
}

/** The stream of a session that only another stream shows. A client may return to it. */
function brokenOf(slot: Slot): Running | null {
  if (slot.kind !== 'attached' && slot.kind !== 'kept') return null;
  const { stream, muxed, over, detached, known } = slot;
  return detached && muxed && known ? { stream, muxed, over, detached, known } : null;
}

/** A multiplexer shows its main session to the next client; nobody misses a new one. */
function opened(slot: Slot, { stream, muxed, isNew, nowMs }: Event<'opened'>, isMain: boolean): SlotStep {
  if (slot.kind !== 'opening' || slot.stream !== stream) return step(slot, endStream(stream));
  const running = { stream, muxed, over: false, detached: false, known: !isNew && !(muxed && isMain) };
  const replaced = ending(slot);
  if ('left' in slot.watcher) {
    const { slot: next, effects } = letGo(running, slot.watcher.left, isMain, nowMs);
    return step(next, ...replaced, ...effects);
  }
  const { socket } = slot.watcher;
  return step({ kind: 'attached', socket, ...running }, { do: 'attach', stream, socket }, ...replaced);
}

/** The engine may be away for a moment: a broken session waits for the client's next attempt. */
function openFailed(slot: Slot, { stream, fault, nowMs }: Event<'open_failed'>, isMain: boolean): SlotStep {
  if (slot.kind !== 'opening' || slot.stream !== stream) return step(slot);
  const refused = refusing(slot, fault);
  if (slot.replaces === undefined) return step(EMPTY, ...refused);
  const how = 'left' in slot.watcher ? slot.watcher.left : 'lost';
  const { slot: next, effects } = letGo(slot.replaces, how, isMain, nowMs);
  return step(next, ...refused, ...effects);
}

function left(slot: Slot, { socket, how, nowMs }: Event<'left'>, isMain: boolean): SlotStep {
  if (!socketsOf(slot).includes(socket)) return step(slot);
  if (slot.kind === 'opening') return step({ ...slot, watcher: { left: how } });
  if (slot.kind !== 'attached') return step(slot);
  return letGo(slot, how, isMain, nowMs);
}

/** A program without a multiplexer exists only here, so it waits for its client. */
function taken(slot: Slot, { nowMs }: Event<'taken'>, isMain: boolean): SlotStep {
  const replaced = closing(slot, CLOSE.replaced);
  if (slot.kind === 'empty' || slot.kind === 'opening' || slot.muxed)
    return step(EMPTY, ...replaced, ...ending(slot));
  if (slot.kind === 'kept') return step(slot);
  const { slot: waiting, effects } = letGo(slot, 'lost', isMain, nowMs);
  return step(waiting, ...replaced, ...effects);
}

/**
 * A close never ends the main pane's program: in a multiplexer it lives on, without one it waits. An unknown stream has
 * no client to wait for.
 */
function letGo(running: Running, how: Leaving, isMain: boolean, nowMs: number): SlotStep {
  const { stream, muxed, over, detached, known } = running;
  const isDone = how === 'deliberate' && (over || muxed || !isMain);
  // A multiplexer shows it again; until then it is not read for a client without the right to it.
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

/** A stream still being opened ends when it is open and unclaimed. */
function ending(slot: Slot, withContainer = false): readonly SlotEffect[] {
  if (slot.kind === 'empty') return [];
  const stream = slot.kind === 'opening' ? slot.replaces?.stream : slot.stream;
  return stream === undefined ? [] : [endStream(stream, withContainer)];
}
