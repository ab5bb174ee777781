import { onNode } from '../client/nodes.ts';
import { ensureImage, imageIdOn } from '../images/node-images.ts';
import type { Swarm } from '../swarm.ts';
import { IMAGE_LABEL } from './names.ts';
import type { ContainerRecord } from './records.ts';
import type { NodeOffer } from './service-spec.ts';

/**
 * Makes ready what the next task of a container needs on its node: nothing holds it there while no task runs, so an
 * administrator's cleanup may have removed it. Throws `ImageUnavailable`.
 */
export async function offerOf(
  { manager, nodes, networks, tools }: Swarm,
  { nodeId, service }: ContainerRecord,
  cpuMillicores: number,
): Promise<NodeOffer> {
  const { Labels, TaskTemplate } = service.Spec;
  const { Image } = TaskTemplate.ContainerSpec;
  const calls = await nodes.engineOf(nodeId);
  await networks.repairOn(nodeId);
  const toolsVolume = await tools.on(nodeId);
  const present = await onNode(imageIdOn(calls, Image));
  const imageId = present ?? (await onNode(ensureImage(calls, Labels[IMAGE_LABEL] ?? Image, manager.calls)));
  return { cpuMillicores, imageId, toolsVolume };
}
