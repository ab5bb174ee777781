import { CLOSE, type CloseReason } from './terminal.ts';
import { forParticipant } from './terminal-close-reason.ts';
import type { Leaving, RunningStream, Slot, SlotEffect, SlotEvent, SlotStep } from './terminal-slot-types.ts';

/** How long the main pane, and any other, waits for a lost client. */
export const KEEP_MAIN_MS = 300_000;
export const KEEP_PANE_MS = 60_000;

export const EMPTY: Slot = { kind: 'empty' };

/** Whether the container ends a terminal's program too. */
const ENDS_WITH_CONTAINER = {
  'container deleted': true,
  'container stopped': true,
  'container restarted': true,
  ended: false,
  replaced: false,
  unauthorized: false,
  'collaboration ended': false,
  'input gap': false,
  'too slow': false,
  'failed to open terminal': false,
  'try again later': false,
  'service restarting': false,
  detached: false,
  'too many processes': false,
  'container unresponsive': false,
} satisfies Readonly<Record<CloseReason, boolean>>;

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
function brokenOf(slot: Slot): RunningStream | null {
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
function letGo(running: RunningStream, how: Leaving, isMain: boolean, nowMs: number): SlotStep {
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
  return step(EMPTY, ...closed, ...ending(slot, ENDS_WITH_CONTAINER[reason]));
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
