import type { ContainerEngine } from '../../../../ports/containers/container-engine.ts';
import { operation } from '../../open-api/route-schema.ts';
import { EngineBody } from '../../schema/containers/engine.ts';
import type { Routes } from '../../server.ts';

/** What the engine does of what clients offer. */
export const engineRoutes =
  (runtime: Pick<ContainerEngine, 'capabilities'>): Routes =>
  (http) => {
    http.get(
      '/api/engine',
      operation('engine.read', 'Read what the container engine does', {
        config: { scope: 'read', failure: 'failed to read the engine' },
        response: { 200: EngineBody },
      }),
      async () => {
        const { keepsLayer, takesSnapshots, measuresDisk, hasRoot } = runtime.capabilities;
        return {
          keeps_layer: keepsLayer,
          takes_snapshots: takesSnapshots,
          measures_disk: measuresDisk,
          has_root: hasRoot,
        };
      },
    );
  };
