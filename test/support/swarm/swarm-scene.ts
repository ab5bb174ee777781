import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { dockerAt } from '../../../src/adapters/docker/engine/engine-client.ts';
import { addressOf } from '../../../src/adapters/docker/engine/engine-probe.ts';
import { processLimits } from '../../../src/adapters/docker/host/process-limits.ts';
import { COUNTED } from '../../../src/adapters/docker/volumes/container-volumes.ts';
import { swarmRuntime } from '../../../src/adapters/swarm/containers/container-runtime.ts';
import { openSwarm } from '../../../src/adapters/swarm/swarm.ts';
import { swarmInside } from '../../../src/adapters/swarm/swarm-inside.ts';
import type { SwarmCluster } from './cluster.ts';
import { removeInstance, swarmSettings } from './installation.ts';

/** A new installation in the Swarm, reached as by Berth; everything of it is removed after the test. */
export async function swarmScene(t: Pick<Test, 'teardown'>, cluster: SwarmCluster) {
  const instanceId = randomUUID();
  t.teardown(() => removeInstance(cluster, instanceId));
  const { image, certificates, dockerHost } = cluster;
  const { BERTH_SWARM_NODE_URL: template } = swarmSettings(cluster);
  const docker = dockerAt(addressOf(dockerHost, certificates));
  const limits = await processLimits();
  const open = () =>
    openSwarm(docker, {
      instanceId,
      node: 'swarm',
      disk: COUNTED,
      toolsImage: image,
      addresses: { template, byNode: {}, certPath: certificates },
      processLimits: limits,
    });
  const swarm = open();
  return {
    instanceId,
    swarm,
    image,
    runtime: swarmRuntime(swarm),
    /** Like that of a restarted service, without a record of earlier calls. */
    restarted: () => swarmRuntime(open()),
    ...swarmInside(swarm),
  };
}
