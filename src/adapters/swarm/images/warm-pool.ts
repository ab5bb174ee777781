import type { WarmPoolEngine } from '../../../ports/containers/container-images.ts';
import { imageLabels } from '../../docker/images/base-image.ts';
import { BASE_LABEL } from '../../docker/images/base-image-recipe.ts';
import { isMadeHere } from '../../docker/images/pull-image.ts';
import type { Manager } from '../client/manager.ts';

/**
 * A reference stands for its image: each node gets it when its first container needs it. With an image that Berth makes,
 * the version of its recipe tells a new one from the old one of the same name. Its id would not do: each manager that has
 * made the image has another id.
 */
export const swarmWarmPool = ({ calls }: Pick<Manager, 'calls'>): WarmPoolEngine => ({
  async imageId(reference) {
    if (!isMadeHere(reference)) return reference;
    const labels = await imageLabels(calls.docker, reference);
    return labels === null ? null : `${reference} ${labels[BASE_LABEL] ?? 'unknown'}`;
  },
});
