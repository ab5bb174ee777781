import t from 'tap';
import { RECONNECT, retryDelayMs } from '../../src/client/backoff.ts';
import {
  answered,
  asked,
  doubted,
  HEARTBEAT_TIMES,
  heard,
  type Pulse,
  pulseState,
  STEADY_PULSE,
  untilChangeMs,
} from '../../src/client/socket/heartbeat.ts';
import { inputBuffer, MAX_PIECE_BYTES } from '../../src/client/terminal/input-buffer.ts';
import { howResumed } from '../../src/client/terminal/resume.ts';
import { type EndReason, meaningOfClose, terminalPath } from '../../src/client/terminal/terminal-protocol.ts';
import { subprotocols, TERMINAL_PROTOCOL } from '../../src/protocol/subprotocols.ts';
import { decodeServerFrame, type ReadyFrame } from '../../src/protocol/terminal-frames.ts';
import { nextReach, type Reach, type ReachEvent } from '../../web/src/lib/browser/server-reachability.ts';

const size = { cols: 120, rows: 34 };
const address = { containerId: 'agent:7', connectionId: 'main', size, resume: null, fresh: false };
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array | null): string | null => bytes && new TextDecoder().decode(bytes);

t.test('the address has the size and never the credential', async (t) => {
  t.equal(terminalPath(address), '/api/containers/agent%3A7/terminal?connection_id=main&cols=120&rows=34');
  t.same(subprotocols(TERMINAL_PROTOCOL, 'abc'), ['berth.terminal.v1', 'bearer.abc']);
});

t.test('a lost connection asks for output after its last byte, a new shell for nothing old', async (t) => {
  const resume = { stream: 's1', after: 42 };
  t.match(terminalPath({ ...address, resume }), /&stream=s1&after=42$/);
  const fresh = terminalPath({ ...address, resume, fresh: true });
  t.match(fresh, /&new=true$/);
  t.notMatch(fresh, /stream/);
});

t.test('frames that are unknown, broken or not objects are ignored', async (t) => {
  for (const message of ['', '{', '7', 'null', '[]', '{}', '{"type":"toString"}', '{"type":"later"}']) {
    t.equal(decodeServerFrame(message), null, message);
  }
});

t.test('known frames are read, with safe values for missing fields', async (t) => {
  const ready = { type: 'ready', stream: 's', offset: 5, input_offset: 3, owner: true, mode: 'view' };
  t.same(decodeServerFrame(JSON.stringify(ready)), {
    ...ready,
    redraw: false,
    cols: 0,
    rows: 0,
    connection_id: '',
    mux_session: null,
    started_at: null,
    fallback: false,
  });
  t.match(decodeServerFrame('{"type":"ready","fallback":true}'), { fallback: true });
  t.match(decodeServerFrame('{"type":"ready"}'), {
    stream: '',
    offset: 0,
    input_offset: 0,
    owner: true,
    mode: 'control',
  });
  t.same(decodeServerFrame('{"type":"exit","code":3}'), { type: 'exit', code: 3 });
  t.same(decodeServerFrame('{"type":"exit"}'), { type: 'exit', code: null });
  t.same(decodeServerFrame('{"type":"recording","on":true,"id":"r"}'), {
    type: 'recording',
    on: true,
    id: 'r',
  });
  t.same(decodeServerFrame('{"type":"recording","on":false,"id":"r"}'), {
    type: 'recording',
    on: false,
    id: 'r',
  });
  t.same(decodeServerFrame('{"type":"recording","id":"r"}'), { type: 'recording', on: false, id: 'r' });
});

t.test('each close code means an end, a question or a retry', async (t) => {
  const ends: [number, string, EndReason][] = [
    [1000, 'ended', 'ended'],
    [1000, 'replaced', 'replaced'],
    [4003, 'collaboration ended', 'collaboration_ended'],
    [4004, 'container deleted', 'deleted'],
    [4009, 'container stopped', 'stopped'],
  ];
  for (const [code, reason, why] of ends) t.same(meaningOfClose(code, reason), { do: 'end', why });
  t.same(meaningOfClose(4001, 'unauthorized'), { do: 'probe' });
  for (const code of [1001, 1006, 1009, 4008, 4010, 4012]) {
    t.same(meaningOfClose(code, ''), { do: 'retry', trouble: 'line' }, String(code));
  }
  for (const code of [1011, 4013])
    t.same(meaningOfClose(code, ''), { do: 'retry', trouble: 'shell' }, String(code));
  t.same(meaningOfClose(1013, 'try again later'), { do: 'retry', trouble: 'database' });
  t.same(meaningOfClose(4014, 'too many processes'), { do: 'retry', trouble: 'processes' });
  t.same(meaningOfClose(4015, 'container unresponsive'), { do: 'retry', trouble: 'unresponsive' });
});

t.test('delays double from the first to the maximum, and chance takes at most half away', async (t) => {
  t.equal(retryDelayMs(0, 1), RECONNECT.firstMs);
  t.equal(retryDelayMs(3, 1), RECONNECT.firstMs * 8);
  t.equal(retryDelayMs(3, 0), RECONNECT.firstMs * 4);
  t.equal(retryDelayMs(1e6, 1), RECONNECT.maxMs);
});

t.test('a resume is exact only on the same stream at the same byte', async (t) => {
  const ready: ReadyFrame = {
    type: 'ready',
    stream: 's',
    offset: 9,
    redraw: false,
    input_offset: 0,
    cols: 80,
    rows: 24,
    connection_id: 'main',
    mux_session: 'main',
    started_at: null,
    fallback: false,
    owner: true,
    mode: 'control',
  };
  t.equal(howResumed(null, ready), 'fresh');
  t.equal(howResumed({ stream: 's', after: 9 }, ready), 'exact');
  t.equal(howResumed({ stream: 's', after: 8 }, ready), 'redraw');
  t.equal(howResumed({ stream: 'x', after: 9 }, ready), 'other');
  t.equal(howResumed({ stream: '', after: 9 }, { ...ready, stream: '' }), 'other');
});

t.test('input is cut into pieces and each is sent once', async (t) => {
  const input = inputBuffer();
  input.push(new Uint8Array(MAX_PIECE_BYTES * 2 + 1));
  t.same(
    [input.next(), input.next(), input.next()].map((piece) => piece?.length),
    [MAX_PIECE_BYTES, MAX_PIECE_BYTES, 1],
  );
  t.equal(input.next(), null);
});

t.test('after a lost connection exactly the input that did not arrive is resent', async (t) => {
  const input = inputBuffer();
  input.push(bytesOf('abc'));
  input.push(bytesOf('def'));
  input.next();
  input.next();
  input.acknowledge(3);
  input.rewind(4);
  t.equal(textOf(input.next()), 'ef');
  input.push(bytesOf('g'));
  input.rewind(6);
  t.equal(textOf(input.next()), 'g');
});

t.test('a service that has less than it acknowledged counts anew, and each byte is sent once', async (t) => {
  const input = inputBuffer();
  for (const text of ['abc', 'def', 'ghi']) input.push(bytesOf(text));
  for (let sent = 0; sent < 2; sent += 1) input.next();
  input.acknowledge(4);
  input.rewind(2);
  t.same(input.pending(), { offset: 2, bytes: bytesOf('efghi') });
  t.same([textOf(input.next()), textOf(input.next()), input.next()], ['ef', 'ghi', null]);
  input.acknowledge(4);
  t.equal(input.pendingBytes(), 3, 'by the new count');
  input.acknowledge(7);
  t.equal(input.pendingBytes(), 0);
});

t.test(
  'a count beyond what was sent loses nothing that was not sent, and says what may be lost',
  async (t) => {
    const input = inputBuffer();
    for (const text of ['abc', 'def', 'ghi']) input.push(bytesOf(text));
    for (let sent = 0; sent < 2; sent += 1) input.next();
    input.acknowledge(900);
    t.equal(textOf(input.next()), 'ghi', 'nor does an acknowledgement');
    input.push(bytesOf('jkl'));
    for (const [counted, doubtful] of [
      [9, null],
      [50, 0],
    ] as const)
      t.equal(input.rewind(counted), doubtful);
    t.same(input.pending(), { offset: 50, bytes: bytesOf('jkl') });
    t.equal(textOf(input.next()), 'jkl');
    input.push(bytesOf('mno'));
    t.equal(input.rewind(70), 3);
    t.same(input.pending(), { offset: 70, bytes: bytesOf('mno') });
  },
);

t.test('what another connection may have sent is not sent twice', async (t) => {
  const input = inputBuffer();
  input.adopt(10, bytesOf('abc'));
  input.push(bytesOf('def'));
  t.equal(input.rewind(12), null);
  t.same([textOf(input.next()), textOf(input.next())], ['c', 'def']);
  input.adopt(10, bytesOf('abc'));
  input.push(bytesOf('def'));
  t.equal(input.rewind(20), 3, 'typed there meanwhile');
  t.equal(textOf(input.next()), 'def');
});

t.test('input typed ahead reaches the first shell, but never another one', async (t) => {
  const input = inputBuffer();
  input.push(bytesOf('ls\r'));
  input.restart(100, true);
  t.equal(textOf(input.next()), 'ls\r');
  input.acknowledge(103);
  t.equal(input.pendingBytes(), 0);
  input.push(bytesOf('rm x\r'));
  input.restart(0, false);
  t.equal(input.next(), null);
});

t.test('unacknowledged input is limited, and acknowledgements allow more', async (t) => {
  const input = inputBuffer(4);
  for (const text of ['ab', 'cd', 'ef']) input.push(bytesOf(text));
  t.same([textOf(input.next()), textOf(input.next()), input.next()], ['ab', 'cd', null]);
  input.acknowledge(2);
  t.equal(textOf(input.next()), 'ef');
});

t.test('nothing is forgotten before it is acknowledged, however much', async (t) => {
  const input = inputBuffer(4);
  for (let i = 0; i < 100; i += 1) input.push(bytesOf('xy'));
  while (input.next() !== null) input.pendingBytes();
  t.equal(input.pendingBytes(), 200);
  let taken = '';
  for (let offset = 0; offset < 200; offset += 2) {
    input.rewind(offset);
    taken += textOf(input.next());
  }
  t.equal(taken, 'xy'.repeat(100));
});

t.test("sharing users and the owner's size are read from their frames", async (t) => {
  const people = [
    { user_id: 'a', username: 'ada', owner: true, mode: 'control' },
    { user_id: 'b', username: 'bob', owner: false, mode: 'view' },
  ];
  const shared = { type: 'participants', participants: people };
  t.same(decodeServerFrame(JSON.stringify(shared)), shared);
  t.same(decodeServerFrame(JSON.stringify({ ...shared, participants: [null, 7, people[0]] })), {
    ...shared,
    participants: [people[0]],
  });
  t.same(decodeServerFrame('{"type":"participants"}'), { type: 'participants', participants: [] });
  t.same(decodeServerFrame('{"type":"size","cols":90,"rows":20}'), { type: 'size', cols: 90, rows: 20 });
  t.same(decodeServerFrame('{"type":"size","cols":null,"rows":null}'), {
    type: 'size',
    cols: null,
    rows: null,
  });
});

const TIMES = { overdueAfterMs: 2_000, silentAfterMs: 8_000 };

t.test('a missing answer makes the peer overdue, and later silent', async (t) => {
  const pulse = asked(STEADY_PULSE, 1_000);
  const cases = [
    [STEADY_PULSE, 99_000, 'answering', null],
    [pulse, 1_000, 'answering', 2_000],
    [pulse, 2_999, 'answering', 1],
    [pulse, 3_000, 'overdue', 6_000],
    [pulse, 8_999, 'overdue', 1],
    [pulse, 9_000, 'silent', 0],
    [asked(pulse, 2_900), 3_000, 'overdue', 6_000],
    [heard(pulse), 9_000, 'answering', null],
    [answered(pulse, 0), 9_000, 'answering', null],
  ] as const;
  for (const [given, nowMs, state, waitMs] of cases) {
    t.equal(pulseState(given, nowMs, TIMES), state, JSON.stringify([given, nowMs]));
    t.equal(untilChangeMs(given, nowMs, TIMES), waitMs);
  }
});

t.test("after the browser's offline event only the answer to a later ping counts", async (t) => {
  const down = doubted(STEADY_PULSE, 5_000);
  const cases: [Pulse, string][] = [
    [down, 'overdue'],
    [asked(down, 5_000), 'overdue'],
    [heard(down), 'overdue'],
    [answered(down, 4_999), 'overdue'],
    [answered(down, 5_000), 'answering'],
    [heard(answered(down, 5_001)), 'answering'],
  ];
  for (const [pulse, state] of cases) t.equal(pulseState(pulse, 5_001, TIMES), state);
  t.equal(pulseState(doubted(asked(STEADY_PULSE, 0), 5_000), 8_000, TIMES), 'silent', 'it gains no time');
});

t.test('a dead connection is noticed within 5 s while the page is visible', async (t) => {
  t.ok(HEARTBEAT_TIMES.pingEveryMs() + HEARTBEAT_TIMES.overdueAfterMs < 5_000);
});

t.test("the page's connection state follows from events and answers", async (t) => {
  const table: [Reach, ReachEvent, Reach][] = [
    ['fine', 'offline', 'offline'],
    ['fine', 'online', 'fine'],
    ['fine', 'answered', 'fine'],
    ['fine', 'unanswered', 'no_answer'],
    ['offline', 'offline', 'offline'],
    ['offline', 'online', 'fine'],
    ['offline', 'answered', 'fine'],
    ['offline', 'unanswered', 'offline'],
    ['no_answer', 'offline', 'offline'],
    ['no_answer', 'online', 'no_answer'],
    ['no_answer', 'answered', 'fine'],
    ['no_answer', 'unanswered', 'no_answer'],
  ];
  for (const [from, event, to] of table) t.equal(nextReach(from, event), to, `${from} ${event}`);
});

t.test('input is counted in characters until it has arrived', async (t) => {
  const input = inputBuffer();
  input.push(Buffer.from('ls 日本€😀'));
  t.equal(input.pendingCharacters(), 7);
  input.next();
  input.acknowledge(Buffer.byteLength('ls 日本€😀'));
  t.equal(input.pendingCharacters(), 0);
});
