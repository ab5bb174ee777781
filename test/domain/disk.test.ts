import t from 'tap';
import {
  chooseQuota,
  type DiskVerdict,
  floorBytes,
  type HostSpace,
  isHostShort,
  judgeDisk,
  type Quota,
  type QuotaSetting,
  quotaOf,
  toMb,
} from '../../src/domain/disk.ts';

t.test('the best way that was seen to work is taken, and why not a better one', async (t) => {
  const cases: [QuotaSetting, string | null, string | null, string, Quota, RegExp][] = [
    ['auto', null, null, 'image', 'hard', /^hard/],
    ['auto', 'no root', null, 'engine', 'hard', /^hard/],
    ['auto', 'no root', 'no pquota', 'measured', 'soft', /^soft.*no root; no pquota/],
    ['auto', 'both fail', 'both fail', 'measured', 'soft', /: both fail$/],
    ['hard', null, 'no pquota', 'image', 'hard', /^hard/],
    ['hard', 'no root', 'no pquota', 'none', 'soft', /no root; no pquota/],
    ['soft', null, null, 'measured', 'soft', /^soft, as it is set/],
  ];
  for (const [setting, image, engine, mode, quota, words] of cases) {
    const choice = chooseQuota(setting, image, engine);
    t.equal(choice.mode, mode, `${setting} ${image} ${engine}`);
    t.equal(quotaOf(choice.mode), quota);
    t.match(choice.detail, words);
  }
});

t.test('above 100 % nothing starts, above 110 % it is stopped; a hard quota needs neither', async (t) => {
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

t.test('a tenth or 5 GiB of the host stays free, or what is set', async (t) => {
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
});
