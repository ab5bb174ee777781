import t from 'tap';
import {
  BASE_LABEL,
  BASE_REFERENCE,
  BASE_VERSION,
} from '../../../src/adapters/docker/images/base-image-recipe.ts';
import { swarmWarmPool } from '../../../src/adapters/swarm/images/warm-pool.ts';
import { runtimeOn, standInSwarm } from '../../support/swarm/stand-in.ts';

t.test('a warm pool goes by the recipe of the base image, and waits for a manager without it', async (t) => {
  const [one, two] = [await standInSwarm(t), await standInSwarm(t)];
  two.images.push(`sha256:${'2'.repeat(64)}`);
  const idAt = (manager: typeof one) =>
    swarmWarmPool(runtimeOn(manager).swarm.manager).imageId(BASE_REFERENCE);
  for (const { behaviour } of [one, two]) behaviour.imageLabels = { [BASE_LABEL]: BASE_VERSION };
  const id = await idAt(one);
  t.match(id, BASE_VERSION);
  t.equal(await idAt(two), id, 'which another manager has made');
  one.behaviour.imageLabels = { [BASE_LABEL]: 'another' };
  await t.rejects(idAt(one), { name: 'RuntimeUnavailable' }, 'while an old one is kept');
  one.behaviour.missingImage = BASE_REFERENCE;
  await t.rejects(idAt(one), { name: 'RuntimeUnavailable' }, 'while it is not made yet');
});

t.test('an image of a registry is known by its reference', async (t) => {
  const { swarm } = runtimeOn(await standInSwarm(t));
  t.equal(await swarmWarmPool(swarm.manager).imageId('registry.example/box:1'), 'registry.example/box:1');
});
