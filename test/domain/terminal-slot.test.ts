import t from 'tap';
import { CLOSE } from '../../src/domain/terminal.ts';
import {
  EMPTY,
  KEEP_MAIN_MS,
  KEEP_PANE_MS,
  type Leaving,
  needsOpening,
  nextSlot,
  type Slot,
  type SlotEffect,
  type SlotEvent,
} from '../../src/domain/terminal-slot.ts';

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
const left = (how: Leaving, socket = 's1'): SlotEvent => ({
  type: 'left',
  socket,
  how,
  nowMs: NOW,
});
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

const close = (reason: (typeof CLOSE)[keyof typeof CLOSE] = CLOSE.replaced): SlotEffect => ({
  do: 'close_socket',
  socket: 's1',
  reason,
});
const open = (forceNew = false): SlotEffect => ({ do: 'open', stream: 'b', socket: 's2', forceNew });
const attach = (socket: string): SlotEffect => ({ do: 'attach', stream: 'a', socket });
const end = (sessionToo = false): SlotEffect => ({ do: 'end_stream', stream: 'a', sessionToo });
const taken: SlotEvent = { type: 'taken', nowMs: NOW };
const fresh: Slot = { kind: 'opening', stream: 'b', watcher: { socket: 's2' } };

type Case = readonly [name: string, before: Slot, event: SlotEvent, after: Slot, effects: SlotEffect[]];

const BOTH: readonly Case[] = [
  ['the first opens', EMPTY, connect(), fresh, [open()]],
  [
    'a second takes over what the first is opening',
    opening,
    connect(),
    { ...opening, watcher: { socket: 's2' } },
    [close()],
  ],
  ['a forced one does not', opening, connect({ forceNew: true }), fresh, [close(), open(true)]],
  [
    'nor one that is to look on where the first is to type',
    opening,
    connect({ otherMode: true }),
    fresh,
    [close(), open()],
  ],
  ['nor when the first has left', unwatched, connect({ otherMode: true }), fresh, [open()]],
  [
    'one in the other mode goes on with no stream',
    shown,
    connect({ otherMode: true, resumes: 'a' }),
    fresh,
    [close(), end(), open()],
  ],
  [
    'also when it is kept for whoever comes back',
    kept(9),
    connect({ otherMode: true, resumes: 'a' }),
    fresh,
    [end(), open()],
  ],
  ['and what comes of the first is ended', fresh, opened(true), fresh, [end()]],
  ['opened anew, and nobody was told yet', opening, openedNew(true), unknown, [attach('s1')]],
  ['its client is told', unknown, ready, shown, []],
  [
    'a client that was replaced is told',
    { ...unknown, socket: 's2' },
    ready,
    { ...unknown, socket: 's2' },
    [],
  ],
  ['told too late', EMPTY, ready, EMPTY, []],
  [
    'another client gets what nobody was told of',
    { ...unknown, muxed: false },
    connect(),
    { ...unknown, muxed: false, socket: 's2' },
    [close(), attach('s2')],
  ],
  [
    'a refused opening',
    opening,
    { type: 'open_failed', stream: 'a' },
    EMPTY,
    [{ do: 'refuse', socket: 's1' }],
  ],
  ['nobody left to refuse', unwatched, { type: 'open_failed', stream: 'a' }, EMPTY, []],
  ['a refusal of an earlier opening', fresh, { type: 'open_failed', stream: 'a' }, fresh, []],
  [
    'a resume while the old socket seems open',
    shown,
    connect({ resumes: 'a' }),
    { ...shown, socket: 's2' },
    [close(), attach('s2')],
  ],
  [
    'a resume after the line was lost',
    kept(9),
    connect({ resumes: 'a' }),
    { ...shown, socket: 's2' },
    [attach('s2')],
  ],
  [
    'the tail of a program that has ended',
    kept(9, ended),
    connect({ resumes: 'a' }),
    { ...ended, socket: 's2' },
    [attach('s2')],
  ],
  ['but not for a client that never saw it', kept(9, ended), connect(), fresh, [end(), open()]],
  ['nor without a multiplexer', kept(9, endedPlain), connect(), fresh, [end(), open()]],
  ['nor while another client shows it', endedPlain, connect(), fresh, [close(), end(), open()]],
  [
    'a client that saw it is shown the tail without a multiplexer as well',
    kept(9, endedPlain),
    connect({ resumes: 'a' }),
    { ...endedPlain, socket: 's2' },
    [attach('s2')],
  ],
  ['a multiplexer draws anew for another window', shown, connect(), fresh, [close(), end(), open()]],
  ['a stream of another process is not known', kept(9), connect({ resumes: 'x' }), fresh, [end(), open()]],
  [
    'without a multiplexer the same stream is shown',
    plain,
    connect(),
    { ...plain, socket: 's2' },
    [close(), attach('s2')],
  ],
  [
    'also after a reload',
    kept(9, plain),
    connect({ resumes: 'x' }),
    { ...plain, socket: 's2' },
    [attach('s2')],
  ],
  ['unless a new one is forced', plain, connect({ forceNew: true }), fresh, [close(), end(), open(true)]],
  [
    'the late close of a replaced socket',
    { ...shown, socket: 's2' },
    left('deliberate'),
    { ...shown, socket: 's2' },
    [],
  ],
  ['the late close of one that was replaced while opening', fresh, left('lost'), fresh, []],
  ['a close after the end', EMPTY, left('lost'), EMPTY, []],
  ['a close of what is kept', kept(9), left('deliberate'), kept(9), []],
  ['the socket leaves before there is a terminal', opening, left('lost'), unwatched, []],
  ['the program ends', shown, { type: 'program_ended', stream: 'a' }, ended, []],
  ['the program ends unseen', kept(9), { type: 'program_ended', stream: 'a' }, kept(9, ended), []],
  ['its line breaks', shown, { type: 'detached', stream: 'a' }, cut, []],
  ['the line of another breaks', shown, { type: 'detached', stream: 'x' }, shown, []],
  ['a line breaks after the end', EMPTY, { type: 'detached', stream: 'a' }, EMPTY, []],
  [
    'a stream whose line broke is not resumed',
    cut,
    connect({ resumes: 'a' }),
    fresh,
    [close(), end(), open()],
  ],
  [
    'nor when it had no multiplexer, after the client has left',
    kept(9, { ...cut, muxed: false }),
    connect({ resumes: 'a' }),
    fresh,
    [end(), open()],
  ],
  ['nothing ends that is still being opened', opening, { type: 'program_ended', stream: 'a' }, opening, []],
  ['nor is it cut off', opening, { type: 'detached', stream: 'a' }, opening, []],
  ['another program ends', shown, { type: 'program_ended', stream: 'x' }, shown, []],
  ['time passes', kept(NOW + 1), { type: 'tick', nowMs: NOW }, kept(NOW + 1), []],
  ['time passes while it is shown', shown, { type: 'tick', nowMs: NOW }, shown, []],
  ['another process takes it over', shown, taken, EMPTY, [close(), end()]],
  ['taken over while nobody sees it', kept(9), taken, EMPTY, [end()]],
  ['taken over while it is opened', opening, taken, EMPTY, [close()]],
  ['taken over when it is gone', EMPTY, taken, EMPTY, []],
  ['nobody else can show it, and nobody sees it', kept(9, plain), taken, kept(9, plain), []],
  [
    'the container stops',
    shown,
    { type: 'shut', reason: CLOSE.containerStopped },
    EMPTY,
    [close(CLOSE.containerStopped), end()],
  ],
  ['the container stops unseen', kept(9), { type: 'shut', reason: CLOSE.containerStopped }, EMPTY, [end()]],
  [
    'the container stops meanwhile',
    opening,
    { type: 'shut', reason: CLOSE.containerStopped },
    EMPTY,
    [close(CLOSE.containerStopped)],
  ],
];

const MAIN: readonly Case[] = [
  ['the session is there anyway', opening, opened(true), unknown, [attach('s1')]],
  ['a lost line', shown, left('lost'), kept(NOW + KEEP_MAIN_MS), []],
  ['a line lost before its client was told', unknown, left('lost'), EMPTY, [end()]],
  ['opened when its client had left', unwatched, openedNew(false), EMPTY, [end()]],
  ['attached when its client had left', unwatched, opened(true), EMPTY, [end()]],
  ['a close', shown, left('deliberate'), EMPTY, [end()]],
  ['a close without a multiplexer', plain, left('deliberate'), kept(NOW + KEEP_MAIN_MS, plain), []],
  ['a right that was lost', shown, left('expelled'), EMPTY, [end()]],
  [
    'a right that was lost, without a multiplexer',
    plain,
    left('expelled'),
    kept(NOW + KEEP_MAIN_MS, plain),
    [],
  ],
  ['a close after the end', ended, left('deliberate'), EMPTY, [end()]],
  ['a line lost before the end was seen', ended, left('lost'), kept(NOW + KEEP_MAIN_MS, ended), []],
  ['nobody else can show it', plain, taken, kept(NOW + KEEP_MAIN_MS, plain), [close()]],
  ['opened for nobody', unwatched, opened(false), kept(NOW + KEEP_MAIN_MS, plain), []],
  ['nobody came back', kept(NOW), { type: 'tick', nowMs: NOW }, EMPTY, [end()]],
];

const PANE: readonly Case[] = [
  ['attached to a session that was there', opening, opened(true), shown, [attach('s1')]],
  ['a lost line', shown, left('lost'), kept(NOW + KEEP_PANE_MS), []],
  ['a line lost before its client was told', unknown, left('lost'), EMPTY, [end(true)]],
  ['a right lost before its client was told', unknown, left('expelled'), EMPTY, [end(true)]],
  ['opened when its client had left', unwatched, openedNew(true), EMPTY, [end(true)]],
  [
    'one that may run programs, when its client had left',
    unwatched,
    opened(true),
    kept(NOW + KEEP_PANE_MS),
    [],
  ],
  ['a close', shown, left('deliberate'), EMPTY, [end(true)]],
  ['a close without a multiplexer', plain, left('deliberate'), EMPTY, [end(true)]],
  ['a right that was lost', shown, left('expelled'), kept(NOW + KEEP_PANE_MS), []],
  ['nobody else can show it', plain, taken, kept(NOW + KEEP_PANE_MS, plain), [close()]],
  [
    'closed while it was opened',
    { ...opening, watcher: { left: 'deliberate' } },
    opened(true),
    EMPTY,
    [end(true)],
  ],
  ['nobody came back', kept(NOW), { type: 'tick', nowMs: NOW }, EMPTY, [end(true)]],
];

t.test('what becomes of a terminal', async (t) => {
  const tables = { main: [...BOTH, ...MAIN], pane: [...BOTH, ...PANE] };
  for (const [pane, cases] of Object.entries(tables)) {
    for (const [name, before, event, slot, effects] of cases) {
      t.same(nextSlot(before, event, pane === 'main'), { slot, effects }, `${pane}: ${name}`);
    }
  }
});

t.test('the main pane is waited for longer than others', async (t) => {
  t.same([KEEP_MAIN_MS, KEEP_PANE_MS], [300_000, 60_000]);
});

t.test(
  'a socket waits for its turn when its stream has to be opened, and never to come back to one',
  async (t) => {
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
  },
);
