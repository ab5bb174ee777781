import type Docker from 'dockerode';
import { removeNow } from '../../docker/containers/stale-containers.ts';
import { type EngineCalls, LIMITS, orNull } from '../../docker/engine/engine-client.ts';
import { containersWith } from '../../docker/engine/engine-lists.ts';
import { INSTANCE_LABEL } from '../../docker/engine/engine-names.ts';
import type { Labels, ServiceSpec } from '../client/objects.ts';
import { VOLUME_LABEL } from '../containers/names.ts';

/** On a container that never starts: the volume that it holds. */
const HOLDS_LABEL = 'berth.holds';

/**
 * Makes a container on the node that never starts, with the volume and image of the service: a stopped service has no
 * container, so `docker volume prune` would remove its volume. The labels are those of the service's containers, so it
 * is removed with them. An existing one is success; without the image nothing can be held.
 */
export async function holdVolume(calls: EngineCalls, spec: ServiceSpec, imageId: string): Promise<void> {
  const volume = spec.Labels[VOLUME_LABEL] ?? '';
  const { Mounts, Labels } = spec.TaskTemplate.ContainerSpec as Held;
  const holder = {
    name: `${spec.Name}-holder`,
    Image: imageId,
    Entrypoint: ['true'],
    Cmd: [],
    Labels: { ...Labels, [HOLDS_LABEL]: volume },
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      Mounts: Mounts.filter(({ Source }) => Source === volume),
    },
  };
  await calls.change(LIMITS.create, (abortSignal) =>
    orNull([404, 409], calls.docker.createContainer({ ...holder, abortSignal })),
  );
}

type Held = { readonly Labels?: Labels; readonly Mounts: readonly Docker.MountSettings[] };

/** Removes those that are left of services which were removed from outside. */
export async function releaseVolume(calls: EngineCalls, instanceId: string, volume: string): Promise<void> {
  const labels = [`${INSTANCE_LABEL}=${instanceId}`, `${HOLDS_LABEL}=${volume}`];
  const holders = await containersWith(calls, labels);
  await Promise.all(holders.map(({ Id }) => removeNow(calls, Id)));
}
