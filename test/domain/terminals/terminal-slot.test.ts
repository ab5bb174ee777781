import t from 'tap';
import { CLOSE, type CloseReason } from '../../../src/domain/terminals/terminal.ts';
import {
  EMPTY,
  KEEP_MAIN_MS,
  KEEP_PANE_MS,
  needsOpening,
  nextSlot,
} from '../../../src/domain/terminals/terminal-slot.ts';
import type {
  Leaving,
  Slot,
  SlotEffect,
  SlotEvent,
} from '../../../src/domain/terminals/terminal-slot-types.ts';

const NOW = 1_000;
const opening: Slot = { kind: 'opening', stream: 'a', watcher: { socket: 's1' } };
const unwatched: Slot = { kind: 'opening', stream: 'a', watcher: { left: 'lost' } };
const shown = {
  kind: 'attached',
  socket: 's1',
  stream: 'a',
  muxed: true,
  over: false,
  detached: false,
  known: true,
} as const;
const plain = { ...shown, muxed: false };
const ended = { ...shown, over: true };
const endedPlain = { ...plain, over: true };
const cut = { ...ended, detached: true };
const broken = { stream: 'a', muxed: true, over: true, detached: true, known: true } as const;
/** Stream `b` is to show the session of the broken stream `a`. */
const replacing = { kind: 'opening', stream: 'b', watcher: { socket: 's2' }, replaces: broken } as const;
const kept = (
  untilMs: number,
  of: Omit<Extract<Slot, { kind: 'attached' }>, 'kind'> & { readonly kind?: 'attached' } = shown,
): Slot => {
  const { socket: _socket, ...running } = of;
  return { ...running, kind: 'kept', untilMs };
};

const connect = (given: Partial<Extract<SlotEvent, { type: 'connect' }>> = {}): SlotEvent => ({
  type: 'connect',
  socket: 's2',
  fresh: 'b',
  resumes: null,
  forceNew: false,
  otherMode: false,
  ...given,
});
const left = (how: Leaving, socket = 's1'): SlotEvent => ({ type: 'left', socket, how, nowMs: NOW });
const opened = (muxed: boolean, stream = 'a', isNew = false): SlotEvent => ({
  type: 'opened',
  stream,
  muxed,
  isNew,
  nowMs: NOW,
});
const openedNew = (muxed: boolean): SlotEvent => opened(muxed, 'a', true);
const unknown = { ...shown, known: false };
const ready: SlotEvent = { type: 'shown', socket: 's1' };

const close = (reason: CloseReason = CLOSE.replaced): SlotEffect => ({
  do: 'close_socket',
  socket: 's1',
  reason,
});
const open = (forceNew = false): SlotEffect => ({ do: 'open', stream: 'b', socket: 's2', forceNew });
const attach = (socket: string): SlotEffect => ({ do: 'attach', stream: 'a', socket });
const end = (withContainer = false): SlotEffect => ({ do: 'end_stream', stream: 'a', withContainer });
const taken: SlotEvent = { type: 'taken', nowMs: NOW };
const fresh: Slot = { kind: 'opening', stream: 'b', watcher: { socket: 's2' } };
const resume = connect({ resumes: 'a' });
const connectOther = connect({ otherMode: true });
const resumeOther = connect({ otherMode: true, resumes: 'a' });
const programEnds: SlotEvent = { type: 'program_ended', stream: 'a' };
const breaks: SlotEvent = { type: 'detached', stream: 'a' };
const fault = new Error('full');
const fails: SlotEvent = { type: 'open_failed', stream: 'a', fault, nowMs: NOW };
const tick: SlotEvent = { type: 'tick', nowMs: NOW };
const shut = (reason: CloseReason, takesPart = false): SlotEvent => ({
  type: 'shut',
  reason,
  isParticipant: takesPart,
});
const stops = shut(CLOSE.containerStopped);
const closeStopped = close(CLOSE.containerStopped);
const unknownPlain = { ...unknown, muxed: false };
const opening2: Slot = { ...opening, watcher: { socket: 's2' } };
const on2 = (slot: Extract<Slot, { kind: 'attached' }>): Slot => ({ ...slot, socket: 's2' });
const keptMain = (of: typeof plain | typeof ended | typeof cut = shown) => kept(NOW + KEEP_MAIN_MS, of);
const keptPane = (of: typeof plain | typeof ended | typeof cut = shown) => kept(NOW + KEEP_PANE_MS, of);

const closeSecond: SlotEffect = { do: 'close_socket', socket: 's2', reason: CLOSE.replaced };
const refuseSecond: SlotEffect = { do: 'refuse', socket: 's2', fault };
const failsAgain: SlotEvent = { type: 'open_failed', stream: 'b', fault, nowMs: NOW };
const forcedThird = connect({ socket: 's3', fresh: 'c', forceNew: true });
const fresh3: Slot = { kind: 'opening', stream: 'c', watcher: { socket: 's3' } };
const openThird: SlotEffect = { do: 'open', stream: 'c', socket: 's3', forceNew: true };

type Case = readonly [name: string, before: Slot, event: SlotEvent, after: Slot, effects: SlotEffect[]];

const BOTH: readonly Case[] = [
  ['the first opens', EMPTY, connect(), fresh, [open()]],
  ['a second takes over what the first is opening', opening, connect(), opening2, [close()]],
  ['a forced one does not', opening, connect({ forceNew: true }), fresh, [close(), open(true)]],
  ['nor a view-only one where the first may type', opening, connectOther, fresh, [close(), open()]],
  ['nor when the first has left', unwatched, connectOther, fresh, [open()]],
  ['one in the other mode goes on with no stream', shown, resumeOther, fresh, [close(), end(), open()]],
  ['also when it is kept for whoever comes back', kept(9), resumeOther, fresh, [end(), open()]],
  ['and what comes of the first is ended', fresh, opened(true), fresh, [end()]],
  ['opened anew, and no client knows yet', opening, openedNew(true), unknown, [attach('s1')]],
  ['its client learns of it', unknown, ready, shown, []],
  ['a client that was replaced learns of it', on2(unknown), ready, on2(unknown), []],
  ['reported too late', EMPTY, ready, EMPTY, []],
  [
    'another client gets what no client knows',
    unknownPlain,
    connect(),
    on2(unknownPlain),
    [close(), attach('s2')],
  ],
  ['a refused opening', opening, fails, EMPTY, [{ do: 'refuse', socket: 's1', fault }]],
  ['nobody left to refuse', unwatched, fails, EMPTY, []],
  ['a refusal of an earlier opening', fresh, fails, fresh, []],
  ['a resume while the old socket seems open', shown, resume, on2(shown), [close(), attach('s2')]],
  ['a resume after the line was lost', kept(9), resume, on2(shown), [attach('s2')]],
  ['the tail of a program that has ended', kept(9, ended), resume, on2(ended), [attach('s2')]],
  ['but not for a client that never saw it', kept(9, ended), connect(), fresh, [end(), open()]],
  ['nor without a multiplexer', kept(9, endedPlain), connect(), fresh, [end(), open()]],
  ['nor while another client shows it', endedPlain, connect(), fresh, [close(), end(), open()]],
  [
    'a client that saw it is shown the tail without a multiplexer as well',
    kept(9, endedPlain),
    resume,
    on2(endedPlain),
    [attach('s2')],
  ],
  ['a multiplexer draws anew for another window', shown, connect(), fresh, [close(), end(), open()]],
  ['a stream of another process is not known', kept(9), connect({ resumes: 'x' }), fresh, [end(), open()]],
  ['without a multiplexer the same stream is shown', plain, connect(), on2(plain), [close(), attach('s2')]],
  ['also after a reload', kept(9, plain), connect({ resumes: 'x' }), on2(plain), [attach('s2')]],
  ['unless a new one is forced', plain, connect({ forceNew: true }), fresh, [close(), end(), open(true)]],
  ['the late close of a replaced socket', on2(shown), left('deliberate'), on2(shown), []],
  ['the late close of one that was replaced while opening', fresh, left('lost'), fresh, []],
  ['a close after the end', EMPTY, left('lost'), EMPTY, []],
  ['a close of what is kept', kept(9), left('deliberate'), kept(9), []],
  ['the socket leaves before there is a terminal', opening, left('lost'), unwatched, []],
  ['the program ends', shown, programEnds, ended, []],
  ['the program ends unseen', kept(9), programEnds, kept(9, ended), []],
  ['its line breaks', shown, breaks, cut, []],
  ['the line of another breaks', shown, { type: 'detached', stream: 'x' }, shown, []],
  ['a line breaks after the end', EMPTY, breaks, EMPTY, []],
  ['a stream whose line broke is not resumed', cut, resume, replacing, [close(), open()]],
  [
    'a session whose line broke is not ended for another stream',
    kept(9, cut),
    connect(),
    replacing,
    [open()],
  ],
  [
    'but for a session that is forced to be new',
    kept(9, cut),
    connect({ forceNew: true }),
    fresh,
    [end(), open(true)],
  ],
  ['nor when the forced one comes later', replacing, forcedThird, fresh3, [closeSecond, end(), openThird]],
  ['nor in the other mode', kept(9, cut), connectOther, fresh, [end(), open()]],
  ['it ends when another process shows the session', replacing, taken, EMPTY, [closeSecond, end()]],
  [
    'it ends with its container',
    replacing,
    stops,
    EMPTY,
    [{ do: 'close_socket', socket: 's2', reason: CLOSE.containerStopped }, end(true)],
  ],
  [
    'nor when it had no multiplexer, after the client has left',
    kept(9, { ...cut, muxed: false }),
    resume,
    fresh,
    [end(), open()],
  ],
  ['nothing ends that is still being opened', opening, programEnds, opening, []],
  ['nor is it cut off', opening, breaks, opening, []],
  ['another program ends', shown, { type: 'program_ended', stream: 'x' }, shown, []],
  ['time passes', kept(NOW + 1), tick, kept(NOW + 1), []],
  ['time passes while it is shown', shown, tick, shown, []],
  ['another process takes it over', shown, taken, EMPTY, [close(), end()]],
  ['taken over while nobody sees it', kept(9), taken, EMPTY, [end()]],
  ['taken over while it is opened', opening, taken, EMPTY, [close()]],
  ['taken over when it is gone', EMPTY, taken, EMPTY, []],
  ['nobody else can show it, and nobody sees it', kept(9, plain), taken, kept(9, plain), []],
  ['the container stops', shown, stops, EMPTY, [closeStopped, end(true)]],
  ['the container stops unseen', kept(9), stops, EMPTY, [end(true)]],
  ['the container stops meanwhile', opening, stops, EMPTY, [closeStopped]],
  [
    'the container of a participant is deleted',
    shown,
    shut(CLOSE.containerDeleted, true),
    EMPTY,
    [close(CLOSE.collaborationEnded), end(true)],
  ],
  [
    'the service stops, and the container stays up',
    shown,
    shut(CLOSE.serviceRestarting),
    EMPTY,
    [close(CLOSE.serviceRestarting), end()],
  ],
];

const MAIN: readonly Case[] = [
  ['the session is there anyway', opening, opened(true), unknown, [attach('s1')]],
  ['a broken session that cannot be shown yet', replacing, failsAgain, keptMain(cut), [refuseSecond]],
  [
    'the broken stream ends when another shows its session',
    replacing,
    opened(true, 'b'),
    { ...unknown, stream: 'b', socket: 's2' },
    [{ do: 'attach', stream: 'b', socket: 's2' }, end()],
  ],
  ['a lost line', shown, left('lost'), keptMain(), []],
  ['a line lost before its client knew', unknown, left('lost'), EMPTY, [end()]],
  ['opened when its client had left', unwatched, openedNew(false), EMPTY, [end()]],
  ['attached when its client had left', unwatched, opened(true), EMPTY, [end()]],
  ['a close', shown, left('deliberate'), EMPTY, [end()]],
  ['a close without a multiplexer', plain, left('deliberate'), keptMain(plain), []],
  ['a right that was lost', shown, left('expelled'), EMPTY, [end()]],
  ['a right that was lost, without a multiplexer', plain, left('expelled'), keptMain(plain), []],
  ['a close after the end', ended, left('deliberate'), EMPTY, [end()]],
  ['a line lost before the end was seen', ended, left('lost'), keptMain(ended), []],
  ['nobody else can show it', plain, taken, keptMain(plain), [close()]],
  ['opened for nobody', unwatched, opened(false), keptMain(plain), []],
  ['nobody came back', kept(NOW), tick, EMPTY, [end()]],
];

const PANE: readonly Case[] = [
  ['a broken session that cannot be shown yet', replacing, failsAgain, keptPane(cut), [refuseSecond]],
  [
    'the broken stream ends when another shows its session',
    replacing,
    opened(true, 'b'),
    { ...shown, stream: 'b', socket: 's2' },
    [{ do: 'attach', stream: 'b', socket: 's2' }, end()],
  ],
  [
    'a broken session that cannot be shown, of a client that left for good',
    { ...replacing, watcher: { left: 'deliberate' } },
    failsAgain,
    EMPTY,
    [end()],
  ],
  ['attached to a session that was there', opening, opened(true), shown, [attach('s1')]],
  ['a lost line', shown, left('lost'), keptPane(), []],
  ['a line lost before its client knew', unknown, left('lost'), EMPTY, [end()]],
  ['a permission lost before its client knew', unknown, left('expelled'), EMPTY, [end()]],
  ['opened when its client had left', unwatched, openedNew(true), EMPTY, [end()]],
  ['one that may run programs, when its client had left', unwatched, opened(true), keptPane(), []],
  ['a close', shown, left('deliberate'), EMPTY, [end()]],
  ['a close without a multiplexer', plain, left('deliberate'), EMPTY, [end()]],
  ['a right that was lost', shown, left('expelled'), keptPane(), []],
  ['nobody else can show it', plain, taken, keptPane(plain), [close()]],
  [
    'closed while it was opened',
    { ...opening, watcher: { left: 'deliberate' } },
    opened(true),
    EMPTY,
    [end()],
  ],
  ['nobody came back', kept(NOW), tick, EMPTY, [end()]],
];

t.test('a terminal slot moves through its states', async (t) => {
  const tables = { main: [...BOTH, ...MAIN], pane: [...BOTH, ...PANE] };
  for (const [pane, cases] of Object.entries(tables)) {
    for (const [name, before, event, slot, effects] of cases) {
      t.same(nextSlot(before, event, pane === 'main'), { slot, effects }, `${pane}: ${name}`);
    }
  }
});

t.test('the main pane waits longer than others', async (t) => {
  t.same([KEEP_MAIN_MS, KEEP_PANE_MS], [300_000, 60_000]);
});

t.test('a socket waits for a turn when its stream must be opened, and never to resume', async (t) => {
  const wish = { resumes: null, forceNew: false, otherMode: false };
  for (const [slot, given, expected] of [
    [EMPTY, {}, true],
    [opening, {}, false],
    [kept(9), {}, true],
    [kept(9), { resumes: 'a' }, false],
    [shown, { resumes: 'a', forceNew: true }, true],
    [shown, { resumes: 'a', otherMode: true }, true],
    [plain, {}, false],
  ] as const)
    t.equal(needsOpening(slot, { ...wish, ...given }), expected, JSON.stringify([slot, given]));
});
