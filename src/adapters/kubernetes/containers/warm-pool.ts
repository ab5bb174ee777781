import { Type } from '@sinclair/typebox';
import type { WarmPoolEngine } from '../../../ports/containers/container-images.ts';
import type { ApiClient } from '../client/api-client.ts';

const Resources = Type.Object({ resources: Type.Array(Type.Object({ name: Type.String() })) });

/**
 * A warm pool needs limits that change while a container runs (from 1.33 on): without them it stays empty. A reference
 * stands for its image, which only the nodes know.
 */
export function clusterWarmPool(client: ApiClient): WarmPoolEngine {
  let hasResize: Promise<boolean> | null = null;
  const ask = async (): Promise<boolean> => {
    const { resources } = await client.call(Resources, { method: 'GET', path: '/api/v1' });
    return resources.some(({ name }) => name === 'pods/resize');
  };
  return {
    async namedImage(reference) {
      hasResize ??= ask();
      hasResize.catch(() => {
        hasResize = null;
      });
      return (await hasResize) ? { id: reference, isOlder: false } : null;
    },
  };
}
