import type Docker from 'dockerode';
import { type EngineCalls, inspectThing, LIMITS, orNull } from './engine-client.ts';

/** All containers with these labels, running or not. */
export const containersWith = (
  calls: EngineCalls,
  label: readonly string[],
): Promise<Docker.ContainerInfo[]> =>
  calls.read(LIMITS.list, (abortSignal) =>
    calls.docker.listContainers({ all: true, filters: { label: [...label] }, abortSignal }),
  );

/** null for an image that the engine does not have. */
export const inspectImage = (
  calls: EngineCalls,
  reference: string,
): Promise<Docker.ImageInspectInfo | null> =>
  calls.read(LIMITS.inspect, (signal) =>
    orNull([404], inspectThing(calls.docker.getImage(reference), signal)),
  );
