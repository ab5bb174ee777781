import t from 'tap';
import {
  findHogs,
  hogReason,
  type KernelLook,
  NO_COUNTS,
  type OwnedShare,
  type SharedCounts,
  shortCounters,
} from '../../src/domain/kernel-share.ts';

const share = (runtimeId: string, ownerId: string, counts: Partial<SharedCounts>): OwnedShare => ({
  runtimeId,
  ownerId,
  counts: { ...NO_COUNTS, ...counts },
});

const lookAt = (shares: readonly OwnedShare[], given: Partial<KernelLook> = {}): KernelLook => ({
  limits: { descriptorsInFlight: 1000, inotifyInstances: 800 },
  totals: {},
  shares,
  ...given,
});

const stopped = (shares: readonly OwnedShare[], given: Partial<KernelLook> = {}): readonly string[] =>
  findHogs(lookAt(shares, given), shares).map(({ runtimeId }) => runtimeId);

t.test('whoever has most of what is short is stopped, above the allowance', async (t) => {
  const few = share('few', 'ada', { descriptorsInFlight: 100 });
  const many = (count: number): OwnedShare => share('many', 'mallory', { descriptorsInFlight: count });
  t.same(stopped([few, many(400)]), [], 'half of it is left');
  t.same(stopped([few, many(401)]), ['many']);
  t.same(stopped([]), []);
});

t.test('several with little are left alone until together they have nearly all', async (t) => {
  const each = (count: number): readonly OwnedShare[] =>
    Array.from({ length: 7 }, (_, at) => share(`c${at}`, `u${at}`, { descriptorsInFlight: count + at }));
  t.same(stopped(each(104)), [], '749 of 1000');
  t.same(stopped(each(105)), ['c6'], '756 of 1000, the largest');
  const few = [share('few', 'ada', { descriptorsInFlight: 100 })];
  t.same(stopped(few, { totals: { descriptorsInFlight: 999 } }), [], 'what others of the machine have');
});

t.test('containers of one owner are charged to the owner', async (t) => {
  const many = Array.from({ length: 5 }, (_, at) =>
    share(`c${at}`, 'mallory', { descriptorsInFlight: 90 + at }),
  );
  const large = share('large', 'ada', { descriptorsInFlight: 120 });
  t.same(stopped([large, ...many]), ['c4'], 'the largest of the owner who has most');
});

t.test('what the kernel says of all goes before the sum', async (t) => {
  const shares = [share('hides', 'mallory', { descriptorsInFlight: 126 })];
  t.same(stopped(shares), []);
  t.same(stopped(shares, { totals: { descriptorsInFlight: 501 } }), ['hides']);
  const counted = [share('forks', 'ada', { descriptorsInFlight: 900 })];
  t.same(stopped(counted, { totals: { descriptorsInFlight: 3 } }), [], 'counted twice, and enough is left');
});

t.test('a container that takes several counters is stopped once', async (t) => {
  const shares = [share('both', 'mallory', { descriptorsInFlight: 900, inotifyInstances: 700 })];
  t.same(shortCounters(lookAt(shares)), ['descriptorsInFlight', 'inotifyInstances']);
  t.same(stopped(shares), ['both']);
});

t.test('a counter without a limit is never short', async (t) => {
  const shares = [share('pipes', 'ada', { pipePages: 1_000_000 })];
  t.same(stopped(shares), []);
});

t.test('the reason says what was used, and of how much', async (t) => {
  const reason = hogReason({ counter: 'inotifyInstances', used: 700, limit: 800 });
  t.match(reason, /^it used 700 of 800 inotify instances that all containers share/);
  const little = hogReason({ counter: 'keys', used: 100, limit: 800 });
  t.match(little, /^it used most of what was nearly gone, 100 of 800 session keys that all containers share/);
});
