import { existsSync } from 'node:fs';
import type Docker from 'dockerode';
import { type QuotaMode, quotaOf } from '../../../domain/containers/disk-quota.ts';
import type { VolumeFacts, VolumeReader } from '../../../ports/containers/container-disk.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import type { VolumeSpec } from '../../../ports/containers/snapshots/volume-copies.ts';
import { type EngineCalls, inspectThing, LIMITS, orNull } from '../engine/engine-client.ts';
import { DB_ID_LABEL, DISK_LABEL, IMAGE_LABEL, INSTANCE_LABEL, QUOTA_LABEL } from '../engine/engine-names.ts';
import type { RootOwner, VolumeImages } from './disk-image.ts';
import { countedBytes, type DataFolder } from './volume-usage.ts';

/** How an installation's volume sizes are enforced. */
export type DiskSettings = {
  /** For new ones; existing ones keep theirs. */
  readonly mode: QuotaMode;
  /** null where this machine cannot have images. */
  readonly images: VolumeImages | null;
  /** Folders on this machine whose file systems receive new data. */
  readonly folders: readonly DataFolder[];
  readonly rootOwner: RootOwner;
  /** Whether the engine's files are readable here. */
  readonly isLocal: boolean;
};

/** Where a container has its volume. */
export const WORKSPACE = '/workspace';

/** What a container has mounted. */
export type Mounted = {
  readonly Mounts: readonly Pick<Docker.ContainerInspectInfo['Mounts'][number], 'Name' | 'Destination'>[];
};

export type Volumes = {
  facts(volume: string): Promise<VolumeFacts | null>;
  /** Creates the volume when absent, and prepares it. Never uses a foreign one. */
  ensure(spec: Omit<VolumeSpec, 'image'>): Promise<void>;
  /** Prepares a container's volume, in the size that the container was made for. */
  beforeStart(info: Docker.ContainerInspectInfo): Promise<void>;
  /** Whether the volume is known to need no preparation. */
  needNoMount(info: Mounted): boolean;
  afterStop(info: Mounted): Promise<void>;
  remove(volume: string): Promise<void>;
  usedBytes(volume: string, reader: VolumeReader): Promise<number | null>;
  /** Runs `work` if the volume is an image; else does nothing. */
  withImage(volume: string, work: (images: VolumeImages, image: string) => Promise<unknown>): Promise<void>;
  /** The folder in which the engine keeps a volume. */
  folder(volume: string): Promise<string>;
};

/** The engine's own volumes only, measured through it. */
export const COUNTED: DiskSettings = {
  mode: 'measured',
  images: null,
  folders: [],
  rootOwner: { uid: 0, gid: 0 },
  isLocal: false,
};

function volumeInspection(calls: EngineCalls, instanceId: string) {
  const inspect = (volume: string): Promise<Docker.VolumeInspectInfo | null> =>
    calls.read(LIMITS.inspect, (signal) =>
      orNull([404], inspectThing(calls.docker.getVolume(volume), signal)),
    );
  /** Throws for a volume of another installation. */
  const own = async (volume: string): Promise<Docker.VolumeInspectInfo | null> => {
    const present = await inspect(volume);
    if (present === null || present.Labels?.[INSTANCE_LABEL] === instanceId) return present;
    throw new RuntimeFailure(`volume ${volume} does not belong to this installation`);
  };
  return { inspect, own };
}

async function mountFor(
  { Mounts, Config, State }: Docker.ContainerInspectInfo,
  withImage: Volumes['withImage'],
): Promise<void> {
  const volume = volumeOf(Mounts);
  if (volume === null || State.Running) return;
  const diskMb = Number(Config.Labels[DISK_LABEL]) || null;
  // A container that has run had its space, and gets it again when a change is undone.
  const isFresh = State.StartedAt.startsWith('0001-');
  const mode = isFresh ? 'strict' : 'lenient';
  await withImage(volume, (all, image) => all.mount(volume, image, diskMb, mode));
}

function volumesWithImages({ own }: ReturnType<typeof volumeInspection>, images: VolumeImages | null) {
  /** Our volumes seen without an image: labels never change. */
  const withoutImage = new Set<string>();
  const withImage: Volumes['withImage'] = async (volume, work) => {
    if (withoutImage.has(volume)) return;
    const present = await own(volume);
    const image = present === null ? null : imageOf(images, present);
    if (image === null) {
      if (present !== null) withoutImage.add(volume);
      return;
    }
    if (images === null) throw new RuntimeFailure(`volume ${volume} is an image, which needs root`);
    await work(images, image);
  };
  return { withoutImage, withImage };
}

/** Volumes on one engine. An image is searched for before the engine is believed, so that its data is not lost. */
export function dockerVolumes(calls: EngineCalls, instanceId: string, disk: DiskSettings): Volumes {
  const { docker } = calls;
  const { images } = disk;
  const inspection = volumeInspection(calls, instanceId);
  const { inspect, own } = inspection;
  const { withoutImage, withImage } = volumesWithImages(inspection, images);

  const ensure: Volumes['ensure'] = async (spec) => {
    if ((await own(spec.volume)) !== null) {
      return await withImage(spec.volume, (all, image) => all.mount(spec.volume, image, null, 'strict'));
    }
    const options = await prepared(disk, spec, instanceId);
    withoutImage.delete(spec.volume);
    await calls.change(LIMITS.start, (abortSignal) => docker.createVolume({ ...options, abortSignal }));
  };
  return {
    ensure,
    withImage,
    async facts(volume) {
      const present = await inspect(volume);
      if (present !== null) return factsOf(modeOf(present));
      return hasImage(images, volume) ? factsOf('image') : null;
    },
    beforeStart: (info) => mountFor(info, withImage),
    needNoMount: ({ Mounts }) => withoutImage.has(volumeOf(Mounts) ?? ''),
    async afterStop({ Mounts }) {
      const volume = volumeOf(Mounts);
      if (volume !== null) await withImage(volume, (all, image) => all.unmount(volume, image));
    },
    async remove(volume) {
      const present = await own(volume);
      const image = present === null ? null : imageOf(images, present);
      await calls.change(LIMITS.start, (abortSignal) =>
        orNull([404], docker.getVolume(volume).remove({ abortSignal })),
      );
      withoutImage.delete(volume);
      if (images !== null) await images.remove(volume, image ?? images.imageOf(volume));
    },
    async folder(volume) {
      const present = await own(volume);
      if (present === null) throw new RuntimeFailure(`volume ${volume} is gone`);
      return present.Mountpoint;
    },
    async usedBytes(volume, reader) {
      const present = await own(volume);
      if (present === null) return null;
      const image = imageOf(images, present);
      if (image !== null && images !== null) return await images.usedBytes(volume, image);
      const folder = disk.isLocal ? present.Mountpoint : null;
      return await countedBytes(calls, { instanceId, volume, folder, reader });
    },
  };
}

const hasImage = (images: VolumeImages | null, volume: string): boolean =>
  images !== null && existsSync(images.imageOf(volume));

/** A volume's image, if any. After a move of the data folder it is at its new place. */
function imageOf(images: VolumeImages | null, present: Docker.VolumeInspectInfo): string | null {
  if (modeOf(present) !== 'image') return null;
  const recorded = present.Labels?.[IMAGE_LABEL] ?? '';
  return images !== null && !existsSync(recorded) ? images.imageOf(present.Name) : recorded;
}

/** The engine's options for a new volume, once that is prepared. */
async function prepared(
  disk: DiskSettings,
  { volume, dbId, resources }: Omit<VolumeSpec, 'image'>,
  instanceId: string,
): Promise<Docker.VolumeCreateOptions> {
  const { images } = disk;
  const mode = hasImage(images, volume) ? 'image' : disk.mode;
  if (mode === 'none') throw new RuntimeFailure('a hard quota is required, but not available here');
  const Labels = { [QUOTA_LABEL]: mode, [INSTANCE_LABEL]: instanceId, [DB_ID_LABEL]: dbId };
  if (mode === 'engine') return { Name: volume, Labels, DriverOpts: { size: `${resources.diskMb}m` } };
  if (mode === 'measured' || images === null) return { Name: volume, Labels };
  const image = images.imageOf(volume);
  await images.make(volume, image, resources.diskMb, disk.rootOwner);
  await images.mount(volume, image, null, 'strict');
  const DriverOpts = bindOf(images.dataOf(volume));
  return { Name: volume, Labels: { ...Labels, [IMAGE_LABEL]: image }, DriverOpts };
}

/** Without the mount there is nothing to bind, and the container does not start. */
export const bindOf = (device: string): Record<string, string> => ({ type: 'none', o: 'bind', device });

const factsOf = (mode: QuotaMode): VolumeFacts => ({ quota: quotaOf(mode), isResizable: mode !== 'engine' });

/** A volume without the label is older than quotas. */
function modeOf({ Labels }: Docker.VolumeInspectInfo): QuotaMode {
  const mode = Labels?.[QUOTA_LABEL];
  return mode === 'image' || mode === 'engine' ? mode : 'measured';
}

export const volumeOf = (mounts: Mounted['Mounts']): string | null =>
  mounts.find(({ Destination }) => Destination === WORKSPACE)?.Name ?? null;
