import { randomBytes } from 'node:crypto';
import t from 'tap';
import {
  type DeviceDecision,
  type DeviceSignIn,
  decidePoll,
  machineName,
  POLL_SECONDS,
  readUserCode,
  USER_CODE_RANDOM_BYTES,
  userCodeOf,
} from '../../../src/domain/identity/device-sign-in.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const signIn = (over: Partial<DeviceSignIn>): DeviceSignIn => ({
  machine: 'laptop',
  origin: { ipAddress: '192.0.2.1', userAgent: 'berth' },
  startedAt: NOW,
  expiresAt: NOW,
  polledAt: null,
  decision: null,
  ...over,
});

t.test('a user code is fair, and read however it is typed', async (t) => {
  const counts = new Map<string, number>();
  for (let n = 0; n < 2000; n += 1) {
    const code = userCodeOf(randomBytes(USER_CODE_RANDOM_BYTES));
    t.match(code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    t.equal(readUserCode(` ${code.toLowerCase().replace('-', ' ')} `), code);
    for (const letter of code.replace('-', '')) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  // 800 of each are expected; a modulo without rejection would give some letters a twelfth more
  for (const [letter, count] of counts) t.ok(count > 650 && count < 950, `${letter}: ${count}`);
  t.equal(
    userCodeOf(Uint8Array.from([255, 240, ...new Array(8).fill(20)])),
    'BBBB-BBBB',
    'no unfair byte counts',
  );
  t.throws(() => userCodeOf(new Uint8Array(40).fill(250)), RangeError);
  for (const no of ['', 'BCDF-GHJ', 'BCDF-GHJKL', 'BCDF-GHJA', 'BCDF-GHJ1', 'ＢCDF-GHJK']) {
    t.equal(readUserCode(no), null, no);
  }
});

const approved: DeviceDecision = { kind: 'approved', userId: 'u', sessionId: 's' };
const ago = (ms: number) => new Date(NOW.getTime() - ms);
const RETRY = { kind: 'too_fast', retryAfterSeconds: POLL_SECONDS };

for (const [name, polledAt, decision, expected] of [
  ['the first poll may come at once', null, null, { kind: 'wait' }],
  ['the next one after the interval', ago(2000), null, { kind: 'wait' }],
  ['an earlier one is too fast', ago(1999), null, RETRY],
  ['even when it is approved', ago(1), approved, RETRY],
  ['an approval is fetched', ago(2000), approved, approved],
  ['a refusal as well', ago(2000), { kind: 'denied' }, { kind: 'denied' }],
] as const) {
  t.test(`poll: ${name}`, async (t) => t.same(decidePoll(signIn({ polledAt, decision }), NOW), expected));
}

t.test('a machine has a name that cannot drive a terminal or reorder a line', async (t) => {
  t.equal(machineName(' ada@laptop\u001b[31m\u202e\n'), 'ada@laptop[31m');
  t.equal(machineName('\u0000 '), 'unnamed machine');
  t.equal(machineName('x'.repeat(200)).length, 64);
});
