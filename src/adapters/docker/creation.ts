import type Docker from 'dockerode';
import { type ContainerSpec, RuntimeFailure } from '../../ports/container-runtime.ts';
import { type EngineCalls, LIMITS, orNull, statusOf } from './client.ts';
import { containerName, createOptions, type RuntimeSettings } from './create-options.ts';
import { DB_ID_LABEL, GENERATION_LABEL, INSTANCE_LABEL } from './labels.ts';

/** What the engine knows of a container; null when it is absent. */
export const inspect = (calls: EngineCalls, id: string): Promise<Docker.ContainerInspectInfo | null> =>
  calls.read(LIMITS.inspect, (abortSignal) =>
    orNull([404], calls.docker.getContainer(id).inspect({ abortSignal })),
  );

/** Makes the volume when it is absent. One that belongs to somebody else is never used. */
export async function ensureVolume(
  calls: EngineCalls,
  spec: ContainerSpec,
  instanceId: string,
): Promise<void> {
  const { docker } = calls;
  const present = await calls.read(LIMITS.inspect, () =>
    orNull([404], docker.getVolume(spec.volume).inspect()),
  );
  if (present === null) {
    const Labels = { [INSTANCE_LABEL]: instanceId, [DB_ID_LABEL]: spec.dbId };
    await calls.change(LIMITS.start, (abortSignal) =>
      docker.createVolume({ Name: spec.volume, Labels, abortSignal }),
    );
  } else if (present.Labels?.[INSTANCE_LABEL] !== instanceId) {
    throw new RuntimeFailure(`volume ${spec.volume} does not belong to this installation`, 403);
  }
}

/** Returns the full id of a new container, or of the one that an earlier try left under the same name. */
export async function createOrAdopt(
  calls: EngineCalls,
  spec: ContainerSpec,
  settings: RuntimeSettings,
): Promise<string> {
  const options = createOptions(spec, settings);
  try {
    const made = await calls.change(LIMITS.create, (abortSignal) =>
      calls.docker.createContainer({ ...options, abortSignal }),
    );
    return made.id;
  } catch (error) {
    if (statusOf(error) !== 409) throw error;
    return await adopt(calls, spec, settings.instanceId, error);
  }
}

/** The name is taken: by an earlier try of ours, or by something that is not for us to touch. */
async function adopt(
  calls: EngineCalls,
  spec: ContainerSpec,
  instanceId: string,
  conflict: unknown,
): Promise<string> {
  const info = await inspect(calls, containerName(spec.dbId, spec.generation));
  const labels = info?.Config.Labels ?? {};
  const isOurs =
    labels[INSTANCE_LABEL] === instanceId &&
    labels[DB_ID_LABEL] === spec.dbId &&
    labels[GENERATION_LABEL] === String(spec.generation);
  if (info === null || !isOurs) throw conflict;
  return info.Id;
}
