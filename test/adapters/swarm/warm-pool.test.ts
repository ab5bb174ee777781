import t from 'tap';
import {
  BASE_LABEL,
  BASE_REFERENCE,
  BASE_VERSION,
} from '../../../src/adapters/docker/images/base-image-recipe.ts';
import { swarmWarmPool } from '../../../src/adapters/swarm/images/warm-pool.ts';
import { poolMemberContract } from '../../contract/containers/warm-pool.ts';
import { runtimeOn, standInSwarm } from '../../support/swarm/stand-in.ts';

t.test(
  'a warm pool goes by the recipe of the base image, which a manager may have of an older version',
  async (t) => {
    const [one, two] = [await standInSwarm(t), await standInSwarm(t)];
    two.images.push(`sha256:${'2'.repeat(64)}`);
    const imageAt = (manager: typeof one) =>
      swarmWarmPool(runtimeOn(manager).swarm.manager).namedImage(BASE_REFERENCE);
    for (const { behaviour } of [one, two]) behaviour.imageLabels = { [BASE_LABEL]: BASE_VERSION };
    const image = await imageAt(one);
    t.match(image, { id: BASE_VERSION, isOlder: false });
    t.same(await imageAt(two), image, 'which another manager has made');
    one.behaviour.imageLabels = { [BASE_LABEL]: 'another' };
    t.same(await imageAt(one), { id: `${BASE_REFERENCE} another`, isOlder: true });
    one.behaviour.imageLabels = {};
    t.match(await imageAt(one), { isOlder: true });
    one.behaviour.missingImage = BASE_REFERENCE;
    await t.rejects(imageAt(one), { name: 'RuntimeUnavailable' }, 'while it is not made yet');
  },
);

const runtime = runtimeOn(await standInSwarm(t));
await poolMemberContract('a Swarm', { runtime, image: 'registry.example/box:1' });

t.test('an image of a registry is known by its reference', async (t) => {
  const { swarm } = runtimeOn(await standInSwarm(t));
  const named = await swarmWarmPool(swarm.manager).namedImage('registry.example/box:1');
  t.same(named, { id: 'registry.example/box:1', isOlder: false });
});
