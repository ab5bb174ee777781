import t from 'tap';
import {
  capacityWarnings,
  distinctDisks,
  type HostFigures,
  type JudgedNode,
  overcommitRatio,
} from '../../../src/domain/containers/capacity/capacity.ts';
import { valuesOf } from '../../support/values.ts';

const GIB = 1024 ** 3;
const host: HostFigures = {
  cpuMillicores: 4_000,
  cpuUsedMillicores: 100,
  memoryBytes: 8 * GIB,
  memoryUsedBytes: 2 * GIB,
  images: null,
};
const disk = (freeGib: number, isShort = false, isPool = false) => ({
  freeBytes: freeGib * GIB,
  totalBytes: 100 * GIB,
  reserveBytes: 5 * GIB,
  isShort,
  isPool,
});
const limits = (memoryMb: number, diskMb: number) => ({ memoryMb, cpuMillicores: 1_000, diskMb });
const sums = { running: limits(4_096, 10_240), all: limits(40_960, 10_240) };
const fine: JudgedNode = { host, disks: [disk(50)], sums };

t.test('what an administrator should know, the most urgent first', async (t) => {
  for (const [node, codes] of [
    [fine, []],
    [{ ...fine, host: null }, ['engine_unreachable']],
    [{ ...fine, disks: [disk(15)] }, ['disk_filling']],
    [{ ...fine, disks: [disk(16)] }, []],
    [{ ...fine, disks: [disk(4, true)] }, ['disk_short']],
    [{ ...fine, disks: [disk(50), disk(10, false, true)] }, ['disk_filling']],
    [{ ...fine, host: { ...host, memoryUsedBytes: 7.2 * GIB } }, ['memory_filling']],
    [{ ...fine, host: { ...host, memoryUsedBytes: 7.1 * GIB } }, []],
    [{ ...fine, host: { ...host, memoryBytes: null, memoryUsedBytes: null } }, []],
    [{ ...fine, sums: { ...sums, running: limits(8_193, 0) } }, ['memory_overcommitted']],
    [{ ...fine, sums: { ...sums, running: limits(8_192, 0) } }, []],
    [{ ...fine, sums: { ...sums, all: limits(0, 102_401) } }, ['disk_overcommitted']],
    [{ ...fine, disks: [], sums: { ...sums, all: limits(0, 102_401) } }, []],
    [
      {
        host: { ...host, memoryUsedBytes: 8 * GIB },
        disks: [disk(4, true)],
        sums: { running: limits(9_000, 0), all: limits(9_000, 200_000) },
      },
      ['disk_short', 'memory_filling', 'memory_overcommitted', 'disk_overcommitted'],
    ],
  ] as const)
    t.same(valuesOf(capacityWarnings(node), 'code'), codes, JSON.stringify(node));
  const [words] = capacityWarnings({ ...fine, disks: [disk(9, false, true)] });
  t.equal(words?.message, "The engine's disk is 91 % full. Delete snapshots, or add space.");
});

t.test('folders on one file system are one disk', async (t) => {
  const [one, other] = [disk(50), disk(40)];
  t.same(distinctDisks([one, { ...one }, other]), [one, other]);
  t.same(distinctDisks([]), []);
});

t.test('the ratio of what is promised has two decimals, and none without a total', async (t) => {
  t.same(
    [
      overcommitRatio(3_000, 2_000),
      overcommitRatio(1, 3),
      overcommitRatio(0, 5),
      overcommitRatio(1, null),
      overcommitRatio(1, 0),
    ],
    [1.5, 0.33, 0, null, null],
  );
});
