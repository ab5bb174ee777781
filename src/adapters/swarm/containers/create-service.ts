import type { ContainerSpec } from '../../../ports/containers/container-runtime.ts';
import { onNode } from '../client/nodes.ts';
import { ensureImage, ensureRunnable } from '../images/node-images.ts';
import type { Swarm } from '../swarm.ts';
import { holdVolume } from '../volumes/volume-holder.ts';
import { runtimeIdOf, serviceNameOf } from './names.ts';
import { serviceSpecOf } from './service-spec.ts';

/**
 * Returns the runtime id of a new container, or of one made by an earlier or concurrent attempt. What it needs is on the
 * node of its volume first: a task of the swarm waits for nothing, and pulls nothing. Throws `NodeInMaintenance` when a
 * start must follow and that node takes no tasks: an update then stops no earlier container for it.
 */
export async function createService(swarm: Swarm, spec: ContainerSpec): Promise<string> {
  const { settings, manager, nodes, records, volumes, networks, tools } = swarm;
  const { instanceId, processLimits } = settings;
  const runtimeId = runtimeIdOf(instanceId, spec.dbId, spec.generation);
  if ((await records.find(runtimeId)) !== null) return runtimeId;
  const nodeId = await volumes.ensure(spec, async (each) => {
    await prepareNode(swarm, each, spec.image);
    await onNode(ensureRunnable(await nodes.engineOf(each), spec.image));
  });
  if (spec.mayStayStopped !== true) await nodes.requireReady(nodeId);
  const imageId = await prepareNode(swarm, nodeId, spec.image);
  const network = networks.name;
  const toolsVolume = await tools.on(nodeId);
  const hostCpuMillicores = await cpuMillicoresOf(swarm, nodeId);
  const own = { instanceId, network, cgroupParent: null, hostCpuMillicores, processLimits };
  const placed = { nodeId, imageId, settings: { ...own, tools: () => toolsVolume } };
  const service = serviceSpecOf(spec, serviceNameOf(runtimeId), placed);
  await onNode(holdVolume(await nodes.engineOf(nodeId), service, imageId));
  if (!(await manager.createService(service))) await records.find(runtimeId);
  return runtimeId;
}

/** Ensures what a container needs on its node besides its volume. Returns the id of the image there. */
async function prepareNode(
  { manager, nodes, networks, firewalls }: Swarm,
  nodeId: string,
  image: string,
): Promise<string> {
  const calls = await nodes.engineOf(nodeId);
  await networks.ensureOn(nodeId);
  await firewalls.readyOn(nodeId);
  return await onNode(ensureImage(calls, image, manager.calls));
}

const NANO_PER_MILLI = 1_000_000;

/** Of all cores of a node: the engine refuses a container more. */
export async function cpuMillicoresOf({ nodes }: Pick<Swarm, 'nodes'>, nodeId: string): Promise<number> {
  const { Description } = await nodes.require(nodeId);
  const { NanoCPUs } = Description.Resources ?? {};
  return NanoCPUs === undefined ? Number.MAX_SAFE_INTEGER : Math.floor(NanoCPUs / NANO_PER_MILLI);
}
