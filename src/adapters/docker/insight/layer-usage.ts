import type Docker from 'dockerode';
import { bytesOf, type LayerUse } from '../../../domain/containers/layer/layer-usage.ts';
import type { EngineCalls } from '../engine/engine-client.ts';
import { inspectImage } from '../engine/engine-lists.ts';
import { CAPTURED_LABEL } from '../engine/engine-names.ts';
import { isRoot, run } from '../host/host-commands.ts';

/** A slower measurement is unknown until the next pass. */
const COUNT_SECONDS = 20;
/** Kibibytes, then inodes, one per line. du reports vanishing files as errors, but its sums are right. */
const COUNT = 'du -skx -- "$1"; du -sx --inodes -- "$1"';

/**
 * A container's use outside its volume, measured on this machine where possible, since the engine's own measurement
 * delays others.
 */
export async function layerUse(
  calls: EngineCalls,
  info: Docker.ContainerInspectInfo,
  image: string,
  isLocal: boolean,
): Promise<LayerUse | null> {
  const upper = (info as { GraphDriver?: { Data?: { UpperDir?: string } } }).GraphDriver?.Data?.UpperDir;
  const ownBytes =
    isLocal && isRoot() && upper !== undefined ? await countHere(upper) : await countByEngine(calls, info.Id);
  return ownBytes === null ? null : { ownBytes, layerImageBytes: await carried(calls, info.Image, image) };
}

async function countHere(folder: string): Promise<number | null> {
  const { stdout } = await run('nice', ['-n', '19', 'sh', '-c', COUNT, 'berth', folder], {
    timeoutSeconds: COUNT_SECONDS,
  });
  const [kib, files] = stdout.split('\n').map((line) => Number.parseInt(line, 10));
  return kib === undefined || files === undefined || Number.isNaN(kib + files)
    ? null
    : bytesOf(kib * 1024, files);
}

async function countByEngine(calls: EngineCalls, id: string): Promise<number | null> {
  const asking = async (abortSignal: AbortSignal): Promise<number> => {
    const info = await calls.docker.getContainer(id).inspect({ size: true, abortSignal } as object);
    return (info as { SizeRw?: number }).SizeRw ?? 0;
  };
  return await calls.work.size(id, () => calls.read(COUNT_SECONDS, asking)).catch(() => null);
}

/** The private image's size beyond the catalogue's. */
async function carried(calls: EngineCalls, imageId: string, catalogueImage: string): Promise<number> {
  const [own, base] = await Promise.all([imageId, catalogueImage].map((name) => inspectImage(calls, name)));
  if (own == null || base == null || own.Config?.Labels?.[CAPTURED_LABEL] === undefined) return 0;
  return Math.max(0, own.Size - base.Size);
}
