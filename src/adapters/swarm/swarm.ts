import type Docker from 'dockerode';
import { ImageUnavailable } from '../../ports/containers/container-runtime.ts';
import type { ProcessLimits } from '../docker/host/process-limits.ts';
import type { DiskSettings } from '../docker/volumes/container-volumes.ts';
import { type Manager, swarmManager } from './client/manager.ts';
import type { NodeAddresses } from './client/node-address.ts';
import { type Nodes, onNode, swarmNodes } from './client/nodes.ts';
import { confines } from './containers/confinement.ts';
import { containerLocator, type Locate } from './containers/locate.ts';
import { type MayPlace, nodeChooser } from './containers/placement.ts';
import { containerRecords, type Records } from './containers/records.ts';
import { type Patience, type Services, taskStarter } from './containers/services.ts';
import { type StaleNetworks, type StaleNodes, staleNetworks } from './containers/stale-networks.ts';
import { ensureImage } from './images/node-images.ts';
import { type NodeFirewalls, nodeFirewalls } from './network/node-firewall.ts';
import { type NodeNetworks, nodeNetworks } from './network/node-networks.ts';
import { type NodeTools, nodeTools } from './volumes/node-tools.ts';
import { type NodeVolumes, nodeVolumes } from './volumes/node-volumes.ts';

export type SwarmSettings = {
  readonly instanceId: string;
  /** Of the swarm itself; absent when any will do. */
  readonly swarmId?: string;
  /** This swarm's name in handles. */
  readonly node: string;
  readonly addresses: NodeAddresses;
  readonly disk: DiskSettings;
  /** Per process; not above the hard limits of the nodes' engines. */
  readonly processLimits: ProcessLimits;
  /** Has tmux for the terminals of other images; without it those are plain shells. */
  readonly toolsImage: string | null;
  /** Known from an earlier connection to the swarm; grows with what is seen. */
  readonly staleNodes?: StaleNodes;
  /** How long a task may take to start, and to end beyond its grace period. */
  readonly patience?: Patience;
};

/** One swarm with what an installation has in it: what all parts of this adapter share. */
export type Swarm = {
  readonly settings: SwarmSettings;
  readonly manager: Manager;
  readonly nodes: Nodes;
  readonly records: Records;
  readonly services: Services;
  readonly volumes: NodeVolumes;
  readonly networks: NodeNetworks;
  readonly firewalls: NodeFirewalls;
  readonly tools: NodeTools;
  readonly locator: Locate;
  readonly staleNetworks: StaleNetworks;
  /** Whether containers may be placed on a node. Throws like its engine. */
  readonly mayPlace: MayPlace;
};

/** Opens no connection yet. `docker`: a manager of the swarm. */
export function openSwarm(docker: Docker, settings: SwarmSettings): Swarm {
  const { instanceId, disk, swarmId } = settings;
  const manager = swarmManager(docker, swarmId === undefined ? null : [swarmId]);
  const nodes = swarmNodes(manager, settings.addresses, settings.toolsImage);
  const records = containerRecords(manager, instanceId);
  const networks = nodeNetworks(manager, nodes, settings);
  const mayPlace: MayPlace = async ({ ID }) => await isConfining({ nodes, manager }, ID, settings);
  const stale = staleNetworks(nodes, settings.staleNodes ?? new Map());
  const choose = nodeChooser(nodes, (node) => mayPlace(node).catch(() => false), stale.isOn);
  return {
    settings,
    manager,
    nodes,
    records,
    services: taskStarter(manager, settings.patience),
    volumes: nodeVolumes({ manager, nodes, instanceId, disk, choose }),
    networks,
    firewalls: nodeFirewalls({ manager, nodes, networks }, settings),
    tools: nodeTools(manager, nodes, settings),
    locator: containerLocator({ manager, nodes, records }),
    staleNetworks: stale,
    mayPlace,
  };
}

/** The base image, where there is one, tries it out. */
async function isConfining(
  { nodes, manager }: Pick<Swarm, 'nodes' | 'manager'>,
  nodeId: string,
  { instanceId, toolsImage: image }: SwarmSettings,
): Promise<boolean> {
  const calls = await nodes.engineOf(nodeId);
  const trial = async () => {
    if (image === null) return null;
    return await ensureImage(calls, image, manager.calls).then(
      () => ({ instanceId, image }),
      (error: unknown) => {
        // As while the manager makes it.
        if (error instanceof ImageUnavailable) return null;
        throw error;
      },
    );
  };
  return await onNode(confines(calls, manager.calls, trial));
}
