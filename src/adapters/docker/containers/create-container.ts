import type Docker from 'dockerode';
import { type ContainerSpec, ImageUnavailable } from '../../../ports/containers/container-runtime.ts';
import { type EngineCalls, LIMITS, orNull, statusOf } from '../engine/engine-client.ts';
import { DB_ID_LABEL, GENERATION_LABEL, INSTANCE_LABEL } from '../engine/engine-names.ts';
import { isMadeHere, pullImage } from '../images/pull-image.ts';
import { containerName, earlierName, newName } from './container-names.ts';
import { createOptions, type RuntimeSettings } from './create-options.ts';

const CONFLICT_SECONDS = 5;

/** Null when it is absent. */
export const inspect = (calls: EngineCalls, id: string): Promise<Docker.ContainerInspectInfo | null> =>
  calls.read(LIMITS.inspect, (abortSignal) =>
    orNull([404], calls.docker.getContainer(id).inspect({ abortSignal })),
  );

/** A row's container, even if an earlier version made it; null when it is absent. */
export const inspectNamed = async (
  calls: EngineCalls,
  instanceId: string,
  dbId: string,
  generation: number,
): Promise<Docker.ContainerInspectInfo | null> =>
  (await inspect(calls, containerName(instanceId, dbId, generation))) ??
  (await inspect(calls, earlierName(dbId, generation)));

/** Returns the full id of a new container, or of one made by an earlier or concurrent attempt. */
export async function createOrAdopt(
  calls: EngineCalls,
  spec: ContainerSpec,
  settings: RuntimeSettings,
): Promise<string> {
  const end = performance.now() + CONFLICT_SECONDS * 1000;
  let pulled = false;
  // An earlier version's attempt has another name, so the engine would make a second container.
  const earlier = await inspect(calls, earlierName(spec.dbId, spec.generation));
  if (earlier !== null && isOf(spec, settings.instanceId, earlier)) return earlier.Id;
  for (;;) {
    try {
      // The tools' volume and the cores of this moment: a pull or the wait for its turn may have taken minutes.
      const creating = (abortSignal: AbortSignal) =>
        calls.docker.createContainer({ ...createOptions(spec, settings), abortSignal });
      const made = await calls.change(LIMITS.create, creating, { userId: spec.ownerId });
      calls.slots.belongs(made.id, spec.ownerId ?? undefined);
      return made.id;
    } catch (error) {
      if (isMissingImage(error) && !pulled && !isMadeHere(spec.image)) {
        pulled = true;
        await pullForCreate(calls, spec.image);
        continue;
      }
      if (statusOf(error) !== 409) throw error;
      const taken = await whoHas(calls, spec, settings.instanceId);
      if (taken.by === 'us') return taken.id;
      // The name is reserved a moment before the container is visible.
      if (taken.by === 'others' || performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }
}

const isMissingImage = (error: unknown): boolean =>
  statusOf(error) === 404 && error instanceof Error && /no such image/i.test(error.message);

async function pullForCreate({ docker }: EngineCalls, image: string): Promise<void> {
  try {
    await pullImage(docker, image, () => {});
  } catch (error) {
    throw new ImageUnavailable(`image ${image}: ${String(error)}`, { cause: error });
  }
}

type Taken = { readonly by: 'us'; readonly id: string } | { readonly by: 'others' | 'nobody yet' };

/** Who has the name: an earlier attempt of ours, a concurrent one, or something foreign. */
async function whoHas(calls: EngineCalls, spec: ContainerSpec, instanceId: string): Promise<Taken> {
  const info = await inspect(calls, newName(instanceId, spec));
  if (info === null) return { by: 'nobody yet' };
  return isOf(spec, instanceId, info) ? { by: 'us', id: info.Id } : { by: 'others' };
}

function isOf(spec: ContainerSpec, instanceId: string, { Config }: Docker.ContainerInspectInfo): boolean {
  const labels = Config.Labels;
  return (
    labels[INSTANCE_LABEL] === instanceId &&
    labels[DB_ID_LABEL] === spec.dbId &&
    labels[GENERATION_LABEL] === String(spec.generation)
  );
}
