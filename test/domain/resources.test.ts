import t from 'tap';
import { defaultResources, resourceFaults, withinTier } from '../../src/domain/resources.ts';
import { aTier } from '../support/builders.ts';

const inside = { memoryMb: 512, cpuMillicores: 500, diskMb: 1024 };

t.test('resources within the tier are taken as they are', async (t) => {
  t.same(withinTier(inside, aTier()), { ok: true, value: inside });
  t.same(
    resourceFaults({ memoryMb: 256, cpuMillicores: 2000, diskMb: 10_240 }, aTier()),
    {},
    'ends included',
  );
});

t.test('every value outside the tier is named by its wire field', async (t) => {
  const result = withinTier({ memoryMb: 255, cpuMillicores: 2001, diskMb: 0.5 }, aTier());
  t.match(result, { ok: false, error: { code: 'validation_failed' } });
  t.same(Object.keys(result.ok ? {} : result.error.fields), ['memory_mb', 'cpu_shares', 'disk_mb']);
});

t.test('numbers that are no whole numbers are refused', async (t) => {
  for (const memoryMb of [Number.NaN, Number.POSITIVE_INFINITY, 512.5, -512]) {
    t.match(resourceFaults({ ...inside, memoryMb }, aTier()), { memory_mb: String }, String(memoryMb));
  }
});

t.test('the defaults of every tier lie within it', async (t) => {
  for (const max of [256, 512, 2048, 8192]) {
    const tier = aTier({ memoryMb: { min: 256, max } });
    t.same(resourceFaults(defaultResources(tier), tier), {}, `up to ${max} MB`);
  }
});

t.test('who asks for nothing gets a quarter of the tier', async (t) => {
  t.equal(defaultResources(aTier({ memoryMb: { min: 64, max: 1024 } })).memoryMb, 256);
  t.equal(defaultResources(aTier({ memoryMb: { min: 512, max: 1024 } })).memoryMb, 512);
});
