import type { WarmPoolEngine } from '../../../ports/containers/container-images.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import { baseImageState } from '../../docker/images/base-image.ts';
import { BASE_VERSION } from '../../docker/images/base-image-recipe.ts';
import { isMadeHere } from '../../docker/images/pull-image.ts';
import type { Manager } from '../client/manager.ts';

/**
 * A reference stands for its image: each node gets it when its first container needs it. With an image that Berth makes,
 * the recipe's version distinguishes a new image from an old one of the same name. Its id cannot: every manager builds the
 * image with an id of its own. Throws until the manager has this version's image: what one manager lacks says nothing about
 * the containers that wait, and another process may use a manager that has it.
 */
export const swarmWarmPool = ({ calls }: Pick<Manager, 'calls'>): WarmPoolEngine => ({
  async imageId(reference) {
    if (!isMadeHere(reference)) return reference;
    const state = await baseImageState(calls.docker, reference);
    if (state === 'current') return `${reference} ${BASE_VERSION}`;
    throw new RuntimeUnavailable(`the image ${reference} of the manager is ${state}`);
  },
});
