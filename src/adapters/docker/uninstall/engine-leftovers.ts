import type Docker from 'dockerode';
import { LIMITS, statusOf } from '../engine/engine-client.ts';
import { CANARY_LABEL, INSTANCE_LABEL, networkName, PASSING_LABEL } from '../engine/engine-names.ts';
import { BASE_REFERENCE } from '../images/base-image-recipe.ts';

/** The labels of all containers that an installation makes, including those that a killed one leaves. */
const LABELS = [INSTANCE_LABEL, CANARY_LABEL, PASSING_LABEL];

/** An engine that hangs is reported instead of waited for. */
const limited = () => ({ abortSignal: AbortSignal.timeout(LIMITS.create * 1000) });

type Labels = Readonly<Record<string, string>>;

export type EngineLeftovers = { readonly containers: number; readonly volumes: number };

export async function countOnEngine(docker: Docker, instanceId: string): Promise<EngineLeftovers> {
  const [containers, volumes] = await Promise.all([
    containersOf(docker, instanceId),
    volumesOf(docker, instanceId),
  ]);
  return { containers: containers.length, volumes: volumes.length };
}

/**
 * Removes an installation's containers, volumes, images and network for good. Throws when the engine refuses, for
 * example a network in use; it may be repeated.
 */
export async function removeFromEngine(docker: Docker, instanceId: string): Promise<void> {
  await removeContainers(docker, instanceId);
  const images = await docker.listImages({
    all: true,
    filters: filtersOf(INSTANCE_LABEL, instanceId),
    ...limited(),
  });
  // A parent of another image goes with that one.
  for (const { Id } of images)
    await docker
      .getImage(Id)
      .remove({ force: true, ...limited() })
      .catch(() => {});
  await removeNetwork(docker, networkName(instanceId));
}

/** Removes an installation's containers and volumes for good. Throws when the engine refuses. */
export async function removeContainers(docker: Docker, instanceId: string): Promise<void> {
  const containers = await containersOf(docker, instanceId);
  await Promise.all(
    containers.map((id) =>
      unlessAbsent(docker.getContainer(id).remove({ force: true, v: true, ...limited() })),
    ),
  );
  const volumes = await volumesOf(docker, instanceId);
  await Promise.all(volumes.map((name) => unlessAbsent(docker.getVolume(name).remove(limited()))));
}

/** Absent is success. Throws while it is in use. */
export const removeNetwork = (docker: Docker, name: string): Promise<void> =>
  unlessAbsent(docker.getNetwork(name).remove(limited()));

/**
 * Removes the base image unless another installation uses the engine: that one would rebuild it only at its next start.
 * Returns true if the image stays for it.
 */
export async function removeBaseImage(docker: Docker, instanceId: string): Promise<boolean> {
  if (await hasOtherInstallation(docker, instanceId)) return true;
  const removing = docker.getImage(BASE_REFERENCE).remove(limited());
  await removing.catch(() => {});
  return false;
}

/** Checks networks too: an installation without containers still has its network, unless it was pruned. */
async function hasOtherInstallation(docker: Docker, instanceId: string): Promise<boolean> {
  const filters = JSON.stringify({ label: [INSTANCE_LABEL] });
  const [networks, containers, { Volumes }] = await Promise.all([
    docker.listNetworks({ filters, ...limited() }),
    docker.listContainers({ all: true, filters, ...limited() }),
    docker.listVolumes({ filters, ...limited() }),
  ]);
  const labelled: readonly { readonly Labels?: Labels | null | undefined }[] = [
    ...networks,
    ...containers,
    ...(Volumes ?? []),
  ];
  return labelled.some(({ Labels }) => Labels?.[INSTANCE_LABEL] !== instanceId);
}

const filtersOf = (label: string, instanceId: string): string =>
  JSON.stringify({ label: [`${label}=${instanceId}`] });

async function containersOf(docker: Docker, instanceId: string): Promise<readonly string[]> {
  const found = await Promise.all(
    LABELS.map((label) =>
      docker.listContainers({ all: true, filters: filtersOf(label, instanceId), ...limited() }),
    ),
  );
  return [...new Set(found.flat().map(({ Id }) => Id))];
}

async function volumesOf(docker: Docker, instanceId: string): Promise<readonly string[]> {
  const { Volumes } = await docker.listVolumes({
    filters: filtersOf(INSTANCE_LABEL, instanceId),
    ...limited(),
  });
  return (Volumes ?? []).map(({ Name }) => Name);
}

async function unlessAbsent(removal: Promise<unknown>): Promise<void> {
  await removal.catch((error: unknown) => {
    if (statusOf(error) !== 404) throw error;
  });
}
