import t from 'tap';
import { BASE_LABEL, BASE_REFERENCE } from '../../../src/adapters/docker/images/base-image-recipe.ts';
import { swarmWarmPool } from '../../../src/adapters/swarm/images/warm-pool.ts';
import { runtimeOn, standInSwarm } from '../../support/swarm/stand-in.ts';

t.test('a warm pool tells a new base image from the old one of the same name', async (t) => {
  const [one, two] = [await standInSwarm(t), await standInSwarm(t)];
  two.images.push(`sha256:${'2'.repeat(64)}`);
  const idAt = (manager: typeof one) =>
    swarmWarmPool(runtimeOn(manager).swarm.manager).imageId(BASE_REFERENCE);
  for (const { behaviour } of [one, two]) behaviour.imageLabels = { [BASE_LABEL]: 'old' };
  const old = await idAt(one);
  t.equal(await idAt(two), old, 'which another manager has made');
  one.behaviour.imageLabels = { [BASE_LABEL]: 'new' };
  t.not(await idAt(one), old);
  one.behaviour.missingImage = BASE_REFERENCE;
  t.equal(await idAt(one), null, 'while it is not made yet');
});

t.test('an image of a registry is known by its reference', async (t) => {
  const { swarm } = runtimeOn(await standInSwarm(t));
  t.equal(await swarmWarmPool(swarm.manager).imageId('registry.example/box:1'), 'registry.example/box:1');
});
