import { EventEmitter } from 'node:events';
import { Value } from '@sinclair/typebox/value';
import t from 'tap';
import { hangUp } from '../../../src/adapters/websocket/close-socket.ts';
import { keepAlive } from '../../../src/adapters/websocket/heartbeat.ts';
import { peerGone } from '../../../src/adapters/websocket/peer-gone.ts';
import { inputLimit, SocketPause } from '../../../src/adapters/websocket/socket-reader.ts';
import { TerminalQuery, toOptions } from '../../../src/adapters/websocket/terminal/terminal-query.ts';
import { watches } from '../../../src/domain/terminals/recording.ts';
import { CLOSE, type CloseReason } from '../../../src/domain/terminals/terminal.ts';
import { CLOSE_CODES } from '../../../src/protocol/close-codes.ts';
import { decodeClientFrame } from '../../../src/protocol/terminal-frames.ts';
import { standingTime } from '../../support/time.ts';

const MIB = 1_048_576;

/** A peer that answers pings or not, and whether it was dropped. */
function aPeer() {
  const peer = Object.assign(new EventEmitter(), {
    answers: true,
    endedAtMs: null as number | null,
    nowMs: () => 0,
    ping: () => void (peer.answers && peer.emit('pong', Buffer.alloc(0))),
    terminate: () => {
      peer.endedAtMs = peer.nowMs();
      peer.emit('close');
    },
  });
  return peer;
}

t.test('a lost peer is noticed within 75 s, whenever it was lost', async (t) => {
  for (const lostMs of [0, 100, 29_900, 30_000, 30_100, 61_000, 89_900]) {
    await t.test(`a peer lost after ${lostMs} ms is noticed`, async (t) => {
      const time = standingTime(t);
      const peer = Object.assign(aPeer(), { nowMs: time.nowMs });
      let pongs = 0;
      keepAlive(peer as never, () => {
        pongs += 1;
      });
      time.pass(lostMs);
      peer.answers = false;
      t.equal(pongs, Math.floor(lostMs / 30_000));
      time.pass(120_000);
      const tookMs = (peer.endedAtMs ?? Number.POSITIVE_INFINITY) - lostMs;
      t.ok(tookMs <= 75_000, `${tookMs} ms`);
      t.ok(tookMs >= 40_000, 'and not for a single ping');
    });
  }
});

t.test('a peer that answers late stays, and a closed one is left alone', async (t) => {
  const time = standingTime(t);
  const peer = Object.assign(aPeer(), { nowMs: time.nowMs, answers: false });
  keepAlive(peer as never, () => {});
  for (let round = 0; round < 5; round += 1) {
    time.pass(60_000);
    peer.emit('pong', Buffer.alloc(0));
  }
  t.equal(peer.endedAtMs, null);
  time.pass(70_000);
  peer.emit('close');
  time.pass(200_000);
  t.equal(peer.endedAtMs, null);
});

t.test('an unresponsive peer without a right to its socket is cut off; others are waited for', async (t) => {
  const time = standingTime(t);
  const cutOff = new Set<CloseReason>([CLOSE.unauthorized, CLOSE.collaborationEnded]);
  /** A socket closed for this reason, which answers or not. */
  const closed = (reason: CloseReason, answers: 'at once' | 'soon' | 'never') => {
    const happened: unknown[] = [];
    const socket = Object.assign(new EventEmitter(), {
      CLOSED: 3,
      readyState: 2,
      send: (text: string) => happened.push(JSON.parse(text)),
      close: (...why: unknown[]) => {
        happened.push(why);
        if (answers === 'at once') socket.readyState = 3;
      },
      terminate: () => happened.push('terminated'),
    });
    hangUp(socket as never, reason);
    time.pass(400);
    if (answers === 'soon') socket.emit('close');
    t.notOk(happened.includes('terminated'));
    time.pass(1_000);
    return happened;
  };
  for (const reason of Object.values(CLOSE)) {
    const first = reason === CLOSE.serviceRestarting ? [{ type: 'restarting', retry_ms: Number }] : [];
    const close = [...first, [CLOSE_CODES[reason], reason]];
    t.match(closed(reason, 'never'), cutOff.has(reason) ? [...close, 'terminated'] : close, reason);
    for (const answers of ['at once', 'soon'] as const) t.equal(closed(reason, answers).length, close.length);
  }
  const random = t.intercept(Math, 'random', { value: () => 0 });
  t.match(closed(CLOSE.serviceRestarting, 'soon'), [{ retry_ms: 500 }]);
  random.restore();
  t.intercept(Math, 'random', { value: () => 1 });
  t.match(closed(CLOSE.serviceRestarting, 'soon'), [{ retry_ms: 5_000 }]);
});

t.test('a peer that leaves before its answer is noticed, and its bytes are kept', async (t) => {
  const aSocket = (over = {}) =>
    Object.assign(new EventEmitter(), {
      readableLength: 0,
      destroyed: false,
      reads: 0,
      read() {
        this.reads += 1;
      },
      ...over,
    });
  const watch = (socket?: ReturnType<typeof aSocket>) => peerGone(socket as never);
  for (const event of ['end', 'close']) {
    const socket = aSocket();
    const { signal } = watch(socket);
    t.notOk(signal.aborted);
    socket.emit('readable');
    t.equal(socket.reads, 1, 'only a read shows the end');
    socket.emit(event);
    t.ok(signal.aborted, event);
  }
  const early = aSocket({ readableLength: 3 });
  const { signal, stop } = watch(early);
  early.emit('readable');
  t.equal(early.reads, 0);
  stop();
  t.same(early.eventNames(), []);
  early.emit('close');
  t.notOk(signal.aborted, 'it is given away');
  t.ok(watch(aSocket({ destroyed: true })).signal.aborted);
  t.notOk(watch().signal.aborted);
});

t.test("the terminal's query accepts only known values", async (t) => {
  const long = 'a'.repeat(64);
  const taken: Readonly<Record<string, readonly [yes: readonly string[], no: readonly string[]]>> = {
    connection_id: [
      ['a', 'Z_-9', long],
      ['', `${long}a`, 'a b', ' a', 'a/'],
    ],
    cols: [
      ['1', '999', '1000'],
      ['0', '01', '1001', '10000', 'x1', '1x', ''],
    ],
    rows: [
      ['1', '999', '1000'],
      ['0', '01', '1001', '10000', 'x1', '1x', ''],
    ],
    new: [
      ['true', 'false'],
      ['', '1'],
    ],
    record: [
      ['true', 'false'],
      ['', '1'],
    ],
    mode: [
      ['view', 'control'],
      ['', 'rule'],
    ],
    stream: [
      ['a', long],
      ['', `${long}a`, ' a'],
    ],
    after: [
      ['0', '9'.repeat(15)],
      ['', '-1', '1'.repeat(16), 'x1', '1x'],
    ],
    other: [[], ['a']],
  };
  for (const [name, [yes, no]] of Object.entries(taken)) {
    for (const value of yes) t.ok(Value.Check(TerminalQuery, { [name]: value }), `${name}=${value}`);
    for (const value of no) t.notOk(Value.Check(TerminalQuery, { [name]: value }), `${name}=${value}`);
  }
  const plain = { connectionId: 'main', cols: 80, rows: 24, forceNew: false, record: false, viewOnly: false };
  t.same(toOptions({}), { ...plain, resume: null });
  t.same(toOptions({ stream: 's' }), { ...plain, resume: null });
  t.same(toOptions({ after: '1' }), { ...plain, resume: null });
  const all = {
    cols: '1',
    rows: '2',
    new: 'true',
    record: 'true',
    mode: 'view',
    connection_id: 'p',
  } as const;
  t.same(toOptions({ ...all, stream: 's', after: '7' }), {
    connectionId: 'p',
    cols: 1,
    rows: 2,
    forceNew: true,
    record: true,
    viewOnly: true,
    resume: { stream: 's', after: 7 },
  });
});

t.test("a terminal's frames accept only values within bounds", async (t) => {
  const MAX = Number.MAX_SAFE_INTEGER;
  const yes = [
    { type: 'resize', cols: 1, rows: 1 },
    { type: 'resize', cols: 1_000, rows: 1_000 },
    { type: 'ping', t: 0.5 },
    { type: 'input_from', offset: 0 },
    { type: 'input_from', offset: MAX },
    ...['look_back', 'redraw'].flatMap((type) => [{ type }, { type, id: 0 }, { type, id: MAX }]),
  ];
  const no = [
    ...[0, 1_001, 1.5, '1'].flatMap((size) => [
      { type: 'resize', cols: size, rows: 1 },
      { type: 'resize', cols: 1, rows: size },
    ]),
    { type: 'resize', cols: 1 },
    { type: 'resize', rows: 1 },
    { type: 'ping', t: '1' },
    { type: 'ping' },
    ...[-1, MAX + 1, 1.5, '1', undefined].map((offset) => ({ type: 'input_from', offset })),
    ...['look_back', 'redraw'].flatMap((type) => [-1, MAX + 1, 1.5, '1'].map((id) => ({ type, id }))),
    { type: '' },
    {},
  ];
  for (const one of yes) t.match(decodeClientFrame(JSON.stringify(one)), one, JSON.stringify(one));
  for (const one of no) t.equal(decodeClientFrame(JSON.stringify(one)), null, JSON.stringify(one));
});

t.test('a recording is announced on its terminal and to guests of the main terminal', async (t) => {
  const entry = (userId: string, connectionId: string, owner: boolean, dbId = 'box') => ({
    userId,
    dbId,
    connectionId,
    owner,
  });
  const main = { userId: 'ada', dbId: 'box', connectionId: 'main' };
  const pane = { ...main, connectionId: 'pane2' };
  const cases: readonly (readonly [ReturnType<typeof entry>, main: boolean, pane: boolean])[] = [
    [entry('ada', 'main', true), true, false],
    [entry('ada', 'pane2', true), false, true],
    [entry('eve', 'main', false), true, false],
    [entry('eve', 'pane2', false), true, false],
    [entry('bob', 'main', true), false, false],
    [entry('ada', 'main', true, 'other'), false, false],
    [entry('eve', 'main', false, 'other'), false, false],
  ];
  for (const [one, ofMain, ofPane] of cases)
    t.same([watches(one, main), watches(one, pane)], [ofMain, ofPane], JSON.stringify(one));
});

t.test('a socket that sends too fast is paused', async (t) => {
  const time = standingTime(t);
  const happened: string[] = [];
  const rest = new SocketPause({
    pause: () => void happened.push('pause'),
    resume: () => void happened.push('resume'),
  });
  // Each frame counts for 64 bytes more than its content.
  const FRAME = MIB - 64;
  const came = inputLimit(rest, time.nowMs);
  came(FRAME);
  came(FRAME);
  t.same(happened, [], 'a paste goes through');
  came(FRAME);
  time.pass(900);
  t.same(happened, ['pause']);
  time.pass(100);
  t.same(happened, ['pause', 'resume']);
  rest.begin('program');
  came(FRAME);
  time.pass(5_000);
  t.same(happened, ['pause', 'resume', 'pause'], 'nor is it read while the program takes nothing');
  t.notOk(rest.begin('program'));
  rest.end('program');
  rest.end('program');
  t.same(happened, ['pause', 'resume', 'pause', 'resume']);
});
