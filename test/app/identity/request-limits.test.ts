import t from 'tap';
import { fixedClock, memoryStorage } from '../../../src/adapters/memory/index.ts';
import { requestLimits } from '../../../src/app/identity/limits/request-limits.ts';
import type { RequestCountStore } from '../../../src/ports/identity/request-count-store.ts';

/** Processes that share a database, with a clock that stands still. */
function setUp() {
  const clock = fixedClock();
  const { requestCounts } = memoryStorage(clock).repositories;
  const state = { added: 0, fault: null as Error | null };
  const counts: RequestCountStore = {
    ...requestCounts,
    add: async (batch) => {
      if (state.fault) throw state.fault;
      state.added += 1;
      return await requestCounts.add(batch);
    },
  };
  const process = () =>
    requestLimits({ counts, monotonicMs: () => clock.now().getTime() + 5, startMs: clock.now().getTime() });
  return { clock, state, process };
}

const admitted = (limits: ReturnType<typeof requestLimits>, times: number, perMinute = 600): number =>
  Array.from({ length: times }, () => limits.admit('a', perMinute)).filter((one) => one.ok).length;

t.test('600 requests a minute are admitted, and the next gets a retry time', async (t) => {
  const { clock, process } = setUp();
  const limits = process();
  t.equal(admitted(limits, 601), 600);
  t.same(limits.admit('a', 600), { ok: false, error: { code: 'rate_limited', retryAfterSeconds: 61 } });
  t.ok(limits.admit('b', 600).ok, 'another credential has its own count');
  clock.advance(59_999);
  t.equal(admitted(limits, 1), 0);
  clock.advance(1001);
  t.equal(admitted(limits, 20), 10, 'ten a second, as the minute before fades');
  clock.advance(180_000);
  t.equal(admitted(limits, 601), 600);
});

t.test('a limit of 0 counts nothing', async (t) => {
  const { process, state } = setUp();
  const limits = process();
  t.equal(admitted(limits, 5000, 0), 5000);
  await limits.flush();
  t.equal(state.added, 0);
});

t.test('counts reach the database in batches, each request once', async (t) => {
  const { process, state } = setUp();
  const limits = process();
  for (const key of ['a', 'b', 'c']) limits.admit(key, 600);
  await limits.flush();
  t.equal(state.added, 1);
  await limits.flush();
  t.equal(state.added, 1, 'nothing new');
  t.equal(admitted(limits, 600), 599);
});

t.test('two processes share a limit and exceed it at most by their unsent parts', async (t) => {
  const { process } = setUp();
  const [one, two] = [process(), process()];
  t.equal(admitted(one, 300), 300);
  await one.flush();
  t.equal(admitted(two, 1), 1);
  await two.flush();
  t.equal(admitted(two, 600), 299, 'it has heard of the other');
  await two.flush();
  t.equal(admitted(one, 100), 100, 'it has not heard yet');
  await one.flush();
  t.equal(admitted(one, 100), 0);
});

t.test('a tenth of the limit is sent at once, without the timer', async (t) => {
  const { process, state } = setUp();
  const limits = process();
  admitted(limits, 59);
  t.equal(state.added, 0);
  admitted(limits, 1);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(state.added, 1);
});

t.test('a silent database delays nobody, and counts are kept', async (t) => {
  const { process, state } = setUp();
  const [one, two] = [process(), process()];
  state.fault = new Error('no database');
  t.equal(admitted(one, 200), 200);
  await t.rejects(one.flush(), state.fault);
  t.equal(admitted(one, 100), 100);
  state.fault = null;
  await one.flush();
  admitted(two, 1);
  await two.flush();
  t.equal(admitted(two, 600), 299);
});

t.test('counts of a finished minute are sent for that minute', async (t) => {
  const { clock, process } = setUp();
  const [one, two] = [process(), process()];
  t.equal(admitted(one, 50), 50);
  clock.advance(60_000);
  t.equal(admitted(one, 1), 1);
  await one.flush();
  t.equal(admitted(two, 1), 1);
  await two.flush();
  t.equal(admitted(two, 600), 548, '50 of the minute before, one of the other, one of its own');
});

t.test('minutes that no longer count are forgotten', async (t) => {
  const clock = fixedClock();
  const { state, repositories } = memoryStorage(clock);
  const nowMs = (): number => clock.now().getTime();
  const limits = requestLimits({ counts: repositories.requestCounts, monotonicMs: nowMs, startMs: nowMs() });
  for (let minute = 0; minute < 5; minute += 1) {
    limits.admit('a', 600);
    await limits.flush();
    clock.advance(60_000);
  }
  t.equal(state.requestCounts.size, 2);
});

t.test('requests without a credential count by address, for IPv6 by network', async (t) => {
  const { process } = setUp();
  const limits = process();
  t.equal(limits.keyOfAddress('2001:db8::1'), limits.keyOfAddress('2001:db8::2'));
  t.not(limits.keyOfAddress('192.0.2.1'), limits.keyOfAddress('192.0.2.2'));
});
