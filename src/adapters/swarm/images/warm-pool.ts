import type { WarmPoolEngine } from '../../../ports/containers/container-images.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import { imageLabels } from '../../docker/images/base-image.ts';
import { BASE_LABEL, BASE_VERSION } from '../../docker/images/base-image-recipe.ts';
import { isMadeHere } from '../../docker/images/pull-image.ts';
import type { Manager } from '../client/manager.ts';

/**
 * A reference stands for its image: each node gets it when its first container needs it. With an image that Berth makes,
 * the recipe's version distinguishes a new image from an old one of the same name. Its id cannot: every manager builds the
 * image with an id of its own. Throws while the manager lacks the image: what one manager lacks says nothing about the
 * containers that wait, and another process may use a manager that has it.
 */
export const swarmWarmPool = ({ calls }: Pick<Manager, 'calls'>): WarmPoolEngine => ({
  async namedImage(reference) {
    if (!isMadeHere(reference)) return { id: reference, isOlder: false };
    const labels = await imageLabels(calls.docker, reference);
    if (labels === null) throw new RuntimeUnavailable(`the manager lacks the image ${reference}`);
    const version = labels[BASE_LABEL] ?? 'of no version';
    return { id: `${reference} ${version}`, isOlder: version !== BASE_VERSION };
  },
});
