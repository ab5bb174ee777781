import t from 'tap';
import { overQuotaReason } from '../../src/domain/disk.ts';
import { filledReason, layerRemovedReason, overLayerReason } from '../../src/domain/layer-use.ts';
import type { Container } from '../../web/src/api/types.ts';
import {
  exactUse,
  layerSpace,
  shortUse,
  spaceAdvice,
  spaceWarning,
  stoppedAboveMb,
  stoppedForSpace,
  volumeSpace,
} from '../../web/src/lib/space.ts';

type Box = Pick<Container, 'volume' | 'layer' | 'status'>;

/** A container with a workspace of 1,000 MB and a layer of 2,048 MB. */
const box = (volumeMb: number | null, layerMb: number | null, over: Partial<Box> = {}): Box => ({
  status: 'running',
  volume: { name: 'v', size_mb: 1000, used_mb: volumeMb, quota: 'soft' },
  layer: { limit_mb: 2048, used_mb: layerMb },
  ...over,
});

t.test('what a container uses is shown beside what it may use', async (t) => {
  t.equal(shortUse(layerSpace(box(0, 120))), '0.1 of 2 GB');
  t.equal(exactUse(layerSpace(box(0, 120))), '120 of 2,048 MB');
  t.equal(shortUse(volumeSpace(box(300, 0))), '300 of 1000 MB');
  t.equal(shortUse(layerSpace(box(0, null))), 'up to 2 GB', 'not counted yet');
  t.equal(exactUse(layerSpace(box(0, null))), 'up to 2,048 MB');
});

t.test('it warns from nine tenths on, and of what stops the container before anything else', async (t) => {
  const cases: [string, Box, string | null][] = [
    ['not counted yet', box(null, null), null],
    ['room in both', box(900, 1843), null],
    ['the layer is nearly full', box(0, 1844), 'layer almost full'],
    ['the layer is full, and that is allowed', box(0, 2048), 'layer almost full'],
    ['the layer is over', box(0, 2049), 'layer over its limit'],
    ['the workspace is nearly full', box(901, 0), 'workspace almost full'],
    ['the workspace is over', box(1001, 1900), 'workspace full'],
    ['both are over', box(1001, 2049), 'layer over its limit'],
  ];
  for (const [name, one, words] of cases) t.equal(spaceWarning(one)?.words ?? null, words, name);
  t.equal(spaceWarning(box(0, 1900))?.isFull, false);
  t.equal(spaceWarning(box(0, 2049))?.isFull, true);
});

t.test('what to do is said for what is low, and fits whether the container runs', async (t) => {
  t.same(spaceAdvice(box(0, 100)), []);
  t.match(spaceAdvice(box(0, 1900))[0], /^Remove packages and files outside/);
  t.match(spaceAdvice(box(0, 2049, { status: 'stopped' }))[0], /^Start the container and remove/);
  t.match(spaceAdvice(box(950, 0))[0], /^Remove files from \/workspace/);
  t.match(spaceAdvice(box(950, 1900)).at(-1), /another one/);
});

t.test('where a volume is only measured, it says up to where the container runs', async (t) => {
  t.equal(stoppedAboveMb(box(0, 0)), 1100);
  const { volume, ...rest } = box(0, 0);
  t.equal(stoppedAboveMb({ ...rest, volume: { ...volume, quota: 'hard' } }), null);
});

t.test('a container that was stopped for its space leads to what can be done, others do not', async (t) => {
  const over = overLayerReason(2049, 2048);
  const reasons = [over, layerRemovedReason(over), filledReason(900), overQuotaReason(1101, 1000)];
  const stopped = { ...box(0, 0), status: 'stopped' };
  for (const status_reason of reasons)
    t.equal(stoppedForSpace({ ...stopped, status_reason }), 'Stopped for its space', status_reason);
  t.equal(
    stoppedForSpace({ ...box(0, 2049), status: 'stopped', status_reason: over }),
    'Stopped: layer over its limit',
  );
  for (const status_reason of [null, 'the engine could not start it'])
    t.equal(stoppedForSpace({ ...stopped, status_reason }), null);
  t.equal(stoppedForSpace({ ...box(0, 0), status_reason: over }), null, 'it runs again');
});
