import t from 'tap';
import { containerAccessContract } from '../contract/containers/inside/container-access.ts';
import { containerProcessesContract } from '../contract/containers/processes/container-processes.ts';
import { terminalBackendContract } from '../contract/terminals/terminal-backend.ts';
import { aSpec } from '../support/engine/container.ts';
import { testCluster } from '../support/kubernetes/cluster.ts';
import { insideOf } from '../support/kubernetes/inside-scene.ts';

const cluster = testCluster();
const { image } = cluster;
const inside = await insideOf(t, cluster);
const handle = await inside.runtime.create(aSpec(image));
await inside.runtime.start(handle);
await containerAccessContract('cluster', { ...inside, image, knowsChanges: false });
await containerProcessesContract('cluster', { ...inside, image });
await terminalBackendContract('cluster', { ...inside, handle });
