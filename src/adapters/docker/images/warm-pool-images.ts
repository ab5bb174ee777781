import type Docker from 'dockerode';
import type { WarmPoolEngine } from '../../../ports/containers/container-images.ts';
import { engineCalls, inspectThing, LIMITS, orNull } from '../engine/engine-client.ts';

/** Stock on one Docker engine. */
export function dockerWarmPoolEngine(docker: Docker): WarmPoolEngine {
  const calls = engineCalls(docker);
  return {
    async imageId(reference) {
      const info = await calls.read(LIMITS.inspect, (signal) =>
        orNull([404], inspectThing(docker.getImage(reference), signal)),
      );
      return info?.Id ?? null;
    },
  };
}
