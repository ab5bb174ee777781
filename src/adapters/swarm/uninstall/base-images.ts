import type Docker from 'dockerode';
import { forEachAtMost } from '../../../concurrency/pool.ts';
import { INSTANCE_LABEL } from '../../docker/engine/engine-names.ts';
import { removeBaseImage } from '../../docker/uninstall/engine-leftovers.ts';
import { listByPrefix } from '../client/long-list.ts';
import type { Manager } from '../client/manager.ts';
import { servicesOf } from '../containers/records.ts';

const NODES_AT_A_TIME = 4;

export type NodeEngine = { readonly name: string; readonly docker: Docker };

/**
 * Removes the base image of nodes, unless another installation may need it: all installations share one base image, and
 * no registry offers it. Returns messages about nodes that keep it, or could not be checked.
 */
export async function removeBaseImages(
  manager: Manager,
  nodes: readonly NodeEngine[],
  instanceId: string,
): Promise<readonly string[]> {
  if (nodes.length === 0) return [];
  try {
    if (await hasOtherInstallation(manager, instanceId))
      return ['The base image stays on all nodes: another installation is in the Swarm.'];
  } catch (error) {
    return [`The base image may stay on all nodes: ${String(error)}.`];
  }
  const kept: string[] = [];
  const left: string[] = [];
  await forEachAtMost(NODES_AT_A_TIME, nodes, async ({ name, docker }) => {
    try {
      if (await removeBaseImage(docker, instanceId)) kept.push(name);
    } catch (error) {
      left.push(`The base image may stay on ${name}: ${String(error)}.`);
    }
  });
  if (kept.length > 0)
    left.push(`The base image stays on ${kept.toSorted().join(', ')}: another installation uses the engine.`);
  return left;
}

/** Checks services and volume records: they cover nodes whose engines were not asked. */
async function hasOtherInstallation(manager: Manager, instanceId: string): Promise<boolean> {
  const [services, configs] = await Promise.all([
    listByPrefix(servicesOf(manager, null))(),
    manager.configs({ [INSTANCE_LABEL]: null }),
  ]);
  return [...services, ...configs].some(({ Spec }) => Spec.Labels?.[INSTANCE_LABEL] !== instanceId);
}
