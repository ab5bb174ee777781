import { readdir } from 'node:fs/promises';
import { cgroupName } from '../engine/engine-names.ts';

const CGROUPS = '/sys/fs/cgroup';

export type ContainerGroup = { readonly runtimeId: string; readonly folder: string };

/**
 * The control groups of an installation's containers in one controller's hierarchy, or in the only one of version 2.
 * Null where this machine has no such groups.
 */
export async function containerGroups(
  controller: string,
  instanceId: string,
): Promise<readonly ContainerGroup[] | null> {
  for (const folder of parentFolders(controller, instanceId)) {
    const names = await readdir(folder).catch(() => null);
    if (names !== null) return names.flatMap((each) => groupIn(folder, each));
  }
  return null;
}

/** The folders that the parent of an installation's containers may have, of which at most one exists. */
export function parentFolders(controller: string, instanceId: string): readonly string[] {
  const name = cgroupName(instanceId);
  const slice = `${name.split('-')[0]}.slice/${name}.slice`;
  return [`${controller}/${name}`, name, `${controller}/${slice}`, slice].map(
    (inside) => `${CGROUPS}/${inside}`,
  );
}

function groupIn(folder: string, name: string): readonly ContainerGroup[] {
  const runtimeId = /^(?:docker-)?([0-9a-f]{64})(?:\.scope)?$/.exec(name)?.[1];
  return runtimeId === undefined ? [] : [{ runtimeId, folder: `${folder}/${name}` }];
}
