import type Docker from 'dockerode';
import type {
  CapturedImage,
  CaptureSpec,
  ContainerSnapshots,
  WarmPoolEngine,
} from '../../../ports/containers/container-images.ts';
import { inspect } from '../containers/create-container.ts';
import { type EngineCalls, engineCalls, inspectThing, LIMITS, orNull } from '../engine/engine-client.ts';
import { inspectImage } from '../engine/engine-lists.ts';
import {
  CAPTURED_LABEL,
  DB_ID_LABEL,
  GENERATION_LABEL,
  INSTANCE_LABEL,
  OPERATION_LABEL,
  OWNER_LABEL,
} from '../engine/engine-names.ts';
import { followToEnd } from '../engine/engine-progress.ts';
import type { Ownership } from '../engine/ownership.ts';

/** Writing a large layer takes as long as the disk needs. */
const CAPTURE_SECONDS = 600;
/** The engine's limit is 125, and each layer keeps what later ones overwrite. */
const MAX_LAYERS = 32;

type Named = Pick<CaptureSpec, 'dbId' | 'generation' | 'snapshotId'>;

/** Deterministic by row and generation, or by snapshot. Below `berth/`, so that no registry is asked for it. */
export const layerImageName = ({ dbId, generation, snapshotId }: Named) =>
  snapshotId === undefined
    ? ({ repo: `berth/carried-${dbId}`, tag: `g${generation}` } as const)
    : ({ repo: `berth/snapshot-${snapshotId}`, tag: 'layer' } as const);

type Labels = Readonly<Record<string, string>>;

/** Images of an installation's containers on one Docker engine. */
export const dockerSnapshots = (
  calls: EngineCalls,
  own: Ownership,
  instanceId: string,
): ContainerSnapshots => ({
  async capture(handle, spec) {
    return await capture(calls, (await own.require(handle)).id, spec, instanceId);
  },
  layerImages: () => layerImages(calls, instanceId),
  removeCaptured: (image) => removeCaptured(calls, image, instanceId),
});

/** Captures an image of a stopped or paused container, or finds the one of an earlier attempt. */
export async function capture(
  calls: EngineCalls,
  id: string,
  spec: CaptureSpec,
  instanceId: string,
  maxLayers = MAX_LAYERS,
): Promise<string> {
  const { repo, tag } = layerImageName(spec);
  const reference = `${repo}:${tag}`;
  const made = await inspectImage(calls, reference);
  if (made?.Config.Labels?.[OPERATION_LABEL] === spec.operationId) return reference;
  const container = await inspect(calls, id);
  const image = container && (await inspectImage(calls, container.Image));
  const labels = labelsOf(spec, instanceId);
  if ((image?.RootFS.Layers?.length ?? 0) >= maxLayers) await flatten(calls, id, spec, image, labels);
  else await commit(calls, id, spec, envWithoutValues(image, container), labels);
  return reference;
}

const labelsOf = (spec: CaptureSpec, instanceId: string): Labels => ({
  [INSTANCE_LABEL]: instanceId,
  [DB_ID_LABEL]: spec.snapshotId ?? spec.dbId,
  [GENERATION_LABEL]: String(spec.generation),
  ...(spec.ownerId === null ? {} : { [OWNER_LABEL]: spec.ownerId }),
  ...(spec.operationId === null ? {} : { [OPERATION_LABEL]: spec.operationId }),
  [CAPTURED_LABEL]: 'true',
});

/**
 * The environment of the container's image. The engine adds the container's own variables, which may be secret, to a
 * captured image: their names stay, without values. Every container gets its own again.
 */
export function envWithoutValues(
  image: Pick<Docker.ImageInspectInfo, 'Config'> | null,
  container: Pick<Docker.ContainerInspectInfo, 'Config'> | null,
): readonly string[] {
  const own = image?.Config.Env ?? [];
  const names = new Set(own.map(nameOf));
  const given = (container?.Config.Env ?? []).map(nameOf).filter((name) => !names.has(name));
  return [...own, ...given.map((name) => `${name}=`)];
}

const nameOf = (entry: string): string => entry.split('=', 1)[0] ?? '';

/** Adds a layer with the changes. */
async function commit(
  calls: EngineCalls,
  id: string,
  spec: CaptureSpec,
  Env: readonly string[],
  Labels: Labels,
): Promise<void> {
  const options = { _query: { container: id, ...layerImageName(spec) }, _body: { Env, Labels } };
  const committing = (abortSignal: AbortSignal) =>
    calls.docker.getContainer(id).commit({ ...options, abortSignal });
  await calls.change(CAPTURE_SECONDS, committing, { runtimeId: id });
}

/** Exports everything as one layer, which shares nothing with the catalogue's image. */
async function flatten(
  calls: EngineCalls,
  id: string,
  spec: CaptureSpec,
  image: Docker.ImageInspectInfo | null,
  labels: Labels,
): Promise<void> {
  const changes = [
    ...(image?.Config.Env ?? []).flatMap((entry) => instruction('ENV', nameOf(entry), textOf(entry))),
    ...Object.entries(labels).flatMap(([name, value]) => instruction('LABEL', name, value)),
  ];
  const flattening = async (abortSignal: AbortSignal): Promise<void> => {
    const options = { abortSignal };
    const everything = await calls.docker.getContainer(id).export(options);
    const answer = await calls.docker.importImage(everything, {
      ...layerImageName(spec),
      changes,
      abortSignal,
    });
    await followToEnd(answer, () => {});
  };
  await calls.change(CAPTURE_SECONDS, flattening, { runtimeId: id });
}

const textOf = (entry: string): string => entry.slice(nameOf(entry).length + 1);

/** Empty for a value of several lines, which an instruction cannot have. */
const instruction = (word: 'ENV' | 'LABEL', name: string, value: string): string[] =>
  /[\r\n]/.test(value) ? [] : [`${word} ${name}="${value.replace(/["\\$]/g, '\\$&')}"`];

async function layerImages(calls: EngineCalls, instanceId: string): Promise<readonly CapturedImage[]> {
  const filters = { label: [`${INSTANCE_LABEL}=${instanceId}`, `${CAPTURED_LABEL}=true`] };
  const all = await calls.read(LIMITS.list, (abortSignal) =>
    calls.docker.listImages({ filters: JSON.stringify(filters), abortSignal }),
  );
  return all.map(({ Id, RepoTags, Labels }) => ({
    imageId: Id,
    reference: RepoTags?.find((name) => name !== '<none>:<none>') ?? null,
    dbId: Labels?.[DB_ID_LABEL] ?? '',
  }));
}

/** 409: still in use. A parent of later images loses its name and is removed with the last of them. */
async function removeCaptured(
  calls: EngineCalls,
  { imageId, reference }: CapturedImage,
  instanceId: string,
): Promise<void> {
  const image = await inspectImage(calls, imageId);
  const labels = image?.Config.Labels;
  if (labels?.[INSTANCE_LABEL] !== instanceId || labels[CAPTURED_LABEL] === undefined) return;
  const remove = (name: string): Promise<true | null> =>
    calls.change(LIMITS.start, (abortSignal) =>
      orNull(
        [404, 409],
        calls.docker
          .getImage(name)
          .remove({ abortSignal })
          .then(() => true as const),
      ),
    );
  if ((await remove(imageId)) === true || reference === null) return;
  if ((await inspectImage(calls, reference))?.Id === imageId) await remove(reference);
}

export function dockerWarmPoolEngine(docker: Docker): WarmPoolEngine {
  const calls = engineCalls(docker);
  return {
    async namedImage(reference) {
      const info = await calls.read(LIMITS.inspect, (signal) =>
        orNull([404], inspectThing(docker.getImage(reference), signal)),
      );
      return info === null ? null : { id: info.Id, isOlder: false };
    },
  };
}
