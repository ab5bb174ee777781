import t from 'tap';
import { containerAccessContract } from '../contract/containers/inside/container-access.ts';
import { containerProcessesContract } from '../contract/containers/processes/container-processes.ts';
import { terminalBackendContract } from '../contract/terminals/terminal-backend.ts';
import { aSpec } from '../support/engine/container.ts';
import { swarmCluster } from '../support/swarm/cluster.ts';
import { swarmScene } from '../support/swarm/swarm-scene.ts';

const { image, ...inside } = await swarmScene(t, swarmCluster());
const handle = await inside.runtime.create(aSpec(image));
await inside.runtime.start(handle);
await containerAccessContract('swarm', { ...inside, image });
await containerProcessesContract('swarm', { ...inside, image });
await terminalBackendContract('swarm', { ...inside, handle });
