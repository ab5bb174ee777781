import fc from 'fast-check';
import t from 'tap';
import {
  chooseQuota,
  type DiskVerdict,
  floorBytes,
  type HostSpace,
  isHostFilling,
  isHostShort,
  judgeDisk,
  type Quota,
  type QuotaSetting,
  quotaOf,
  toMb,
} from '../../../src/domain/containers/disk-quota.ts';
import {
  findHogs,
  hogReason,
  type KernelReading,
  NO_COUNTS,
  type OwnedShare,
  type SharedCounts,
  shortCounters,
} from '../../../src/domain/containers/kernel-share.ts';
import { bytesOf, layerMb } from '../../../src/domain/containers/layer/layer-usage.ts';
import {
  diskToClaim,
  isFitted,
  type PoolModel,
  planPool,
  type WatchedMember,
} from '../../../src/domain/containers/warm-pool.ts';

t.test('the best working method is chosen, with reasons against better ones', async (t) => {
  const cases: [QuotaSetting, string | null, string | null, string, Quota, RegExp][] = [
    ['auto', null, null, 'image', 'hard', /^hard/],
    ['auto', 'no root', null, 'engine', 'hard', /^hard/],
    ['auto', 'no root', 'no pquota', 'measured', 'soft', /^soft.*no root; no pquota/],
    ['auto', 'both fail', 'both fail', 'measured', 'soft', /: both fail$/],
    ['hard', null, 'no pquota', 'image', 'hard', /^hard/],
    ['hard', 'no root', 'no pquota', 'none', 'soft', /no root; no pquota/],
    ['soft', null, null, 'measured', 'soft', /^soft, as configured/],
  ];
  for (const [setting, image, engine, mode, quota, words] of cases) {
    const choice = chooseQuota(setting, image, engine);
    t.equal(choice.mode, mode, `${setting} ${image} ${engine}`);
    t.equal(quotaOf(choice.mode), quota);
    t.match(choice.detail, words);
  }
});

t.test('above 100 % nothing starts, above 110 % it stops; a hard quota needs neither', async (t) => {
  const cases: [Quota, number | null, DiskVerdict][] = [
    ['soft', null, 'fine'],
    ['soft', 0, 'fine'],
    ['soft', 1000, 'fine'],
    ['soft', 1001, 'no start'],
    ['soft', 1100, 'no start'],
    ['soft', 1101, 'stop'],
    ['hard', 5000, 'fine'],
  ];
  for (const [quota, usedMb, verdict] of cases) {
    t.equal(judgeDisk(quota, usedMb, 1000), verdict, `${quota} ${usedMb}`);
  }
  t.same([0, 1, 1_048_576, 1_048_577].map(toMb), [0, 1, 1, 2]);
});

t.test('a tenth or 5 GiB of the host stays free, or the set value', async (t) => {
  const gib = 1024 ** 3;
  t.equal(floorBytes(20 * gib, null), 2 * gib);
  t.equal(floorBytes(500 * gib, null), 5 * gib);
  t.equal(floorBytes(500 * gib, 100), 100 * 1_048_576);
  const host = (freeBytes: number) => ({ freeBytes, totalBytes: 100 * gib, isPool: false });
  const pool = (freeBytes: number) => ({ freeBytes, totalBytes: 10 * gib, isPool: true });
  const cases: [HostSpace[], number | null, boolean][] = [
    [[host(5 * gib)], null, false],
    [[host(5 * gib - 1)], null, true],
    [[host(0)], 0, false],
    [[host(gib)], 2048, true],
    [[], null, false],
    [[host(50 * gib), pool(gib)], null, false],
    [[host(50 * gib), pool(gib - 1)], null, true],
    [[host(50 * gib), pool(gib)], 20_480, false],
    [[host(19 * gib), pool(9 * gib)], 20_480, true],
    [[host(50 * gib), pool(0)], 0, false],
  ];
  for (const [spaces, floorMb, short] of cases) {
    t.equal(isHostShort(spaces, floorMb), short, `${JSON.stringify(spaces)} ${floorMb}`);
  }
  const half = 2.5 * gib;
  t.same(
    [half, half - 1].map((free) => isHostFilling(host(free), null)),
    [false, true],
    'below half of that',
  );
});

const share = (runtimeId: string, ownerId: string, counts: Partial<SharedCounts>): OwnedShare => ({
  runtimeId,
  ownerId,
  counts: { ...NO_COUNTS, ...counts },
});

const inspect = (shares: readonly OwnedShare[], given: Partial<KernelReading> = {}): KernelReading => ({
  limits: { descriptorsInFlight: 1000, inotifyInstances: 800 },
  totals: {},
  shares,
  ...given,
});

const stopped = (shares: readonly OwnedShare[], given: Partial<KernelReading> = {}): readonly string[] =>
  findHogs(inspect(shares, given), shares).map(({ runtimeId }) => runtimeId);

t.test('the owner with most of a short counter is stopped, above the allowance', async (t) => {
  const few = share('few', 'ada', { descriptorsInFlight: 100 });
  const many = (count: number): OwnedShare => share('many', 'mallory', { descriptorsInFlight: count });
  t.same(stopped([few, many(400)]), [], 'half of it is left');
  t.same(stopped([few, many(401)]), ['many']);
  t.same(stopped([]), []);
});

t.test('several small owners are left alone until they use nearly all', async (t) => {
  const each = (count: number): readonly OwnedShare[] =>
    Array.from({ length: 7 }, (_, at) => share(`c${at}`, `u${at}`, { descriptorsInFlight: count + at }));
  t.same(stopped(each(104)), [], '749 of 1000');
  t.same(stopped(each(105)), ['c6'], '756 of 1000, the largest');
  const few = [share('few', 'ada', { descriptorsInFlight: 100 })];
  t.same(stopped(few, { totals: { descriptorsInFlight: 999 } }), [], 'what others of the machine have');
});

t.test('containers of one owner count together', async (t) => {
  const many = Array.from({ length: 5 }, (_, at) =>
    share(`c${at}`, 'mallory', { descriptorsInFlight: 90 + at }),
  );
  const large = share('large', 'ada', { descriptorsInFlight: 120 });
  t.same(stopped([large, ...many]), ['c4'], 'the largest of the owner who has most');
});

t.test("the kernel's total precedes the sum", async (t) => {
  const shares = [share('hides', 'mallory', { descriptorsInFlight: 126 })];
  t.same(stopped(shares), []);
  t.same(stopped(shares, { totals: { descriptorsInFlight: 501 } }), ['hides']);
  const counted = [share('forks', 'ada', { descriptorsInFlight: 900 })];
  t.same(stopped(counted, { totals: { descriptorsInFlight: 3 } }), [], 'counted twice, and enough is left');
});

t.test('a container that exhausts several counters is stopped once', async (t) => {
  const shares = [share('both', 'mallory', { descriptorsInFlight: 900, inotifyInstances: 700 })];
  t.same(shortCounters(inspect(shares)), ['descriptorsInFlight', 'inotifyInstances']);
  t.same(stopped(shares), ['both']);
});

t.test('a counter without a limit is never short', async (t) => {
  const shares = [share('pipes', 'ada', { pipePages: 1_000_000 })];
  t.same(stopped(shares), []);
});

t.test('the reason names use and limit', async (t) => {
  const reason = hogReason({ counter: 'inotifyInstances', used: 700, limit: 800 });
  t.match(reason, /^it used 700 of 800 inotify instances that all containers share/);
  const little = hogReason({ counter: 'keys', used: 100, limit: 800 });
  for (const counter of Object.keys(NO_COUNTS) as (keyof SharedCounts)[])
    t.match(
      hogReason({ counter, used: 700, limit: 800 }),
      /^it used 700 of 800 [a-zA-Z].* that all/,
      counter,
    );
  t.match(little, /^few were left, and it used the most: 100 of 800 session keys that all containers share/);
});

const resources = { memoryMb: 512, cpuMillicores: 500, diskMb: 2560 };
const parts = { node: 'local', image: 'berth/debian:12', imageId: 'sha256:new', resources };
const model: PoolModel = { ...parts, isOlder: false, quota: 'soft' };

const member = (dbId: string, over: Partial<WatchedMember> = {}): WatchedMember => ({
  ...parts,
  dbId,
  state: 'ready',
  volume: `ws-${dbId}`,
  runtimeId: `r-${dbId}`,
  quota: 'soft',
  abandoned: false,
  ...over,
});

const planned = (
  members: readonly WatchedMember[],
  size: number,
  given: PoolModel | null = model,
  running = members.map((one) => one.dbId),
) => {
  const { remove, make } = planPool(members, new Set(running), size, given);
  return { remove: remove.map((one) => one.dbId), make };
};

t.test('a pool plan removes and makes members', async (t) => {
  const old = { imageId: 'sha256:other' };
  const older = { ...model, isOlder: true };
  const left = member('a', { state: 'making', abandoned: true });
  const making = member('a', { state: 'making', runtimeId: null });
  const removing = member('a', { state: 'removing' });
  const leftClaiming = member('a', { state: 'claiming', abandoned: true });
  const leftRemoving = { ...removing, abandoned: true };
  const cases: readonly [string, ReturnType<typeof planned>, string[], number][] = [
    ['an empty pool is filled', planned([], 2), [], 2],
    ['a full one is left alone', planned([member('a'), member('b')], 2), [], 0],
    ['what is being made counts', planned([making], 1), [], 0],
    ['what a killed process was making is made anew', planned([left], 1), ['a'], 1],
    ['what a killed process was removing is removed', planned([leftRemoving], 0, null), ['a'], 0],
    ['what another process removes is its own affair', planned([removing], 0), [], 0],
    ['one that does not run is replaced', planned([member('a')], 1, model, []), ['a'], 1],
    ['one of an older image is replaced', planned([member('a', old)], 1), ['a'], 1],
    ['one of another reference is replaced', planned([member('a', { image: 'x' })], 1), ['a'], 1],
    [
      'one whose size is enforced otherwise is replaced',
      planned([member('a', { quota: 'hard' })], 1),
      ['a'],
      1,
    ],
    ['one of unknown enforcement is kept', planned([member('a', { quota: null })], 1), [], 0],
    ['what a create takes does not count', planned([member('a', { state: 'claiming' })], 1), [], 1],
    ['what a killed create was taking goes', planned([leftClaiming], 0), ['a'], 0],
    ['one of another engine is replaced', planned([member('a', { node: 'x' })], 1), ['a'], 1],
    ['one of a newer image stays while it runs, beside none', planned([member('a', old)], 2, older), [], 0],
    ['and is waited for', planned([{ ...making, ...old }], 2, older), [], 0],
    ['and is removed when it does not run', planned([member('a', old)], 1, older, []), ['a'], 0],
    ['an older image will do alone', planned([member('a')], 2, older), [], 1],
    ['but not one of another reference', planned([member('a', { ...old, image: 'x' })], 1, older), ['a'], 1],
    ['of too many the oldest go', planned([member('a'), member('b'), member('c')], 1), ['a', 'b'], 0],
    ['off means off', planned([left, member('b')], 0, null), ['a', 'b'], 0],
    ['what is not finished goes first', planned([member('b'), left], 0, null), ['a', 'b'], 0],
    ['without an image there is nothing to make', planned([], 3, null), [], 0],
  ];
  for (const [name, got, remove, make] of cases) t.same(got, { remove, make }, name);
  for (const [limit, size] of Object.entries(resources)) {
    const other = member('a', { resources: { ...resources, [limit]: size + 1 } });
    t.same(planned([other], 1), { remove: ['a'], make: 1 }, `one with another ${limit} is replaced`);
  }
});

t.test('any pool is in order after two passes at most, and then left alone', async (t) => {
  const anyMember = fc.record({
    state: fc.constantFrom('making', 'ready', 'removing'),
    abandoned: fc.boolean(),
    imageId: fc.constantFrom('sha256:new', 'sha256:old'),
    runs: fc.boolean(),
  });
  const holds = () =>
    fc.assert(
      fc.property(fc.array(anyMember, { maxLength: 8 }), fc.nat(4), (drawn, size) => {
        let made = 0;
        // A process completes it: a made member becomes ready, a removed one goes.
        const ended = drawn.filter((one) => one.state !== 'removing' || one.abandoned);
        let members = ended.map(({ runs: _, ...one }, n) =>
          member(`m${n}`, { ...one, state: one.state === 'making' && !one.abandoned ? 'ready' : one.state }),
        );
        const dead = new Set(ended.flatMap((one, n) => (one.runs ? [] : [`m${n}`])));
        for (let pass = 0; pass < 2; pass += 1) {
          const running = new Set(members.map((one) => one.dbId).filter((id) => !dead.has(id)));
          const plan = planPool(members, running, size, model);
          const gone = new Set(plan.remove.map((one) => one.dbId));
          const fresh = Array.from({ length: plan.make }, () => member(`n${made++}`));
          members = [...members.filter((one) => !gone.has(one.dbId)), ...fresh];
        }
        const rest = planPool(members, new Set(members.map((one) => one.dbId)), size, model);
        return members.length === size && rest.make === 0 && rest.remove.length === 0;
      }),
    );
  t.doesNotThrow(holds);
});

t.test('only an enforced disk size must match', async (t) => {
  t.equal(diskToClaim(resources, 'soft'), null);
  t.equal(diskToClaim(resources, 'hard'), 2560);
});

t.test('a create sets the limits of a member that has others, or an unknown quota', async (t) => {
  const cases: readonly [Partial<WatchedMember>, Partial<typeof resources>, boolean][] = [
    [{}, {}, true],
    [{}, { diskMb: 512 }, false],
    [{}, { memoryMb: 1024 }, false],
    [{}, { cpuMillicores: 1000 }, false],
    [{ quota: null }, {}, false],
  ];
  for (const [over, wanted, fitted] of cases)
    t.equal(isFitted(member('a', over), { ...resources, ...wanted }), fitted, JSON.stringify([over, wanted]));
});

t.test('a file counts at least 8 KiB, and carried-over data counts too', async (t) => {
  t.same([bytesOf(100_000, 3), bytesOf(0, 3)], [100_000, 24_576]);
  t.equal(layerMb({ ownBytes: 1_048_576, layerImageBytes: 1_048_577 }), 3);
});
