import t from 'tap';
import { nextReach, type Reach, type ReachEvent } from '../../web/src/lib/reach.ts';
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
} from '../../web/src/terminal/heartbeat.ts';
import { inputBuffer } from '../../web/src/terminal/input-buffer.ts';

const TIMES = { overdueAfterMs: 2_000, silentAfterMs: 8_000 };

t.test('an answer that is missing makes the peer overdue, and later silent', async (t) => {
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

t.test('after the browser’s notice only the answer to a later ping counts', async (t) => {
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

t.test('a dead line is noticed within 5 s while the page is looked at', async (t) => {
  t.ok(HEARTBEAT_TIMES.pingEveryMs() + HEARTBEAT_TIMES.overdueAfterMs < 5_000);
});

t.test('what the page says of its reach follows from notices and answers', async (t) => {
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

t.test('typed input is counted in characters, each until it has arrived', async (t) => {
  const input = inputBuffer();
  input.push(Buffer.from('ls 日本€😀'));
  t.equal(input.pendingCharacters(), 7);
  input.acknowledge(Buffer.byteLength('ls 日本€😀'));
  t.equal(input.pendingCharacters(), 0);
});
