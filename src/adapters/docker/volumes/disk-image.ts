import { mkdir, readdir, rm, rmdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { run } from '../host/host-commands.ts';
import {
  COPY_IMAGE,
  DATA_FOLDER,
  IMAGE_EXITS,
  MAKE_IMAGE,
  MEASURE_IMAGE,
  MOUNT_IMAGE,
  REMOVE_IMAGE,
  UNMOUNT_IMAGE,
} from './disk-image-scripts.ts';

const MIB = 1024 * 1024;
const LOCK_SECONDS = 60;
/** Longer than copying the largest volume takes; no request waits for it. */
const WORK_SECONDS = 1800;
/** A copy waits for earlier copies of its volume. */
const COPIES_SECONDS = WORK_SECONDS;

/**
 * The size of an image for `diskMb` of files: journal, tables and ext4's reserve are added, so that nobody gets less
 * than promised.
 */
export const imageBytes = (diskMb: number): number => Math.ceil((diskMb + 56) * 1.04) * MIB;

export type ImagePlaces = {
  readonly images: string;
  /** The folder of mounts; the same for every process of the installation. */
  readonly mounts: string;
};

/** The host's user and group of a container's root. */
export type RootOwner = { readonly uid: number; readonly gid: number };

/** Volumes with their own file systems in files of this machine. Needs root. */
export type VolumeImages = {
  imageOf(volume: string): string;
  /** The folder for containers, which exists only while the image is mounted. */
  dataOf(volume: string): string;
  make(volume: string, image: string, diskMb: number, owner: RootOwner): Promise<void>;
  /** Mounts and resizes it; null keeps the size. Lenient keeps a size that cannot shrink. */
  mount(volume: string, image: string, diskMb: number | null, mode: 'strict' | 'lenient'): Promise<void>;
  unmount(volume: string, image: string): Promise<void>;
  /** Makes the image of another volume, with the current files. Writers must be paused. */
  copy(volume: string, image: string, to: string): Promise<void>;
  /** Ends a freeze of the mounted file system. */
  thaw(volume: string): Promise<void>;
  remove(volume: string, image: string): Promise<void>;
  usedBytes(volume: string, image: string): Promise<number>;
  /** Unmounts all. Running containers keep theirs. */
  close(): Promise<void>;
};

/** Runs scripts on images, one at a time on each. */
const lockedScripts =
  ({ images, mounts }: ImagePlaces) =>
  async (
    volume: string,
    image: string,
    script: string,
    args: readonly (string | number)[],
    lockSeconds = LOCK_SECONDS,
  ): Promise<string> => {
    await mkdir(mounts, { recursive: true, mode: 0o700 });
    await mkdir(images, { recursive: true, mode: 0o700 });
    const lock = ['-w', String(lockSeconds), lockOf(image)];
    const command = [...lock, 'sh', '-c', script, 'berth', ...args.map(String)];
    const timeoutSeconds = lockSeconds + WORK_SECONDS;
    const { code, stdout, stderr } = await run('flock', command, { timeoutSeconds });
    if (code !== 0) throw new RuntimeFailure(`volume ${volume}: ${wordsOf(code)} ${stderr.trim()}`.trim());
    return stdout;
  };

export function volumeImages(places: ImagePlaces): VolumeImages {
  const { images, mounts } = places;
  const at = (volume: string): string => join(mounts, named(volume));
  const imageOf = (volume: string): string => join(images, `${named(volume)}.img`);
  const locked = lockedScripts(places);
  const unmount: VolumeImages['unmount'] = async (volume, image) => {
    await locked(volume, image, UNMOUNT_IMAGE, [at(volume)]);
  };
  const dataOf: VolumeImages['dataOf'] = (volume) => join(at(volume), DATA_FOLDER);
  return {
    imageOf,
    dataOf,
    async make(volume, image, diskMb, { uid, gid }) {
      await locked(volume, image, MAKE_IMAGE, [image, imageBytes(diskMb), uid, gid]);
    },
    async mount(volume, image, diskMb, mode) {
      const bytes = diskMb === null ? 0 : imageBytes(diskMb);
      await locked(volume, image, MOUNT_IMAGE, [image, at(volume), bytes, mode]);
    },
    unmount,
    async copy(volume, image, to) {
      // A running container has a mount of its own, which is not in this machine's list of mounts.
      await locked(volume, image, COPY_IMAGE, [image, at(volume), imageOf(to)], COPIES_SECONDS);
    },
    async thaw(volume) {
      await run('fsfreeze', ['-u', at(volume)]);
    },
    async remove(volume, image) {
      await locked(volume, image, REMOVE_IMAGE, [image, at(volume)]);
      await rm(lockOf(image), { force: true });
    },
    async usedBytes(volume, image) {
      // Without a mount there is no such folder. With one, no lock of a copy is waited for.
      const mounted = await statfs(dataOf(volume)).catch(() => null);
      if (mounted !== null) return (mounted.blocks - mounted.bfree) * mounted.bsize;
      const measured = await locked(volume, image, MEASURE_IMAGE, [image, at(volume)]);
      const [blocks = 0, free = 0, bytes = 0] = measured.trim().split(' ').map(Number);
      return (blocks - free) * bytes;
    },
    async close() {
      const names = await readdir(mounts).catch(() => []);
      await Promise.all(names.map((name) => unmount(name, imageOf(name))));
      await rmdir(mounts).catch(() => {});
    },
  };
}

/** Beside the image, where every process finds it. */
const lockOf = (image: string): string => `${image}.lock`;

/** A volume's name becomes a path. */
function named(volume: string): string {
  if (/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/.test(volume)) return volume;
  throw new RuntimeFailure('not a valid volume name');
}

function wordsOf(code: number): string {
  if (code === IMAGE_EXITS.missing)
    return 'its image is missing; Berth does not replace it with an empty one';
  return code === IMAGE_EXITS.doesNotFit ? 'it cannot shrink:' : `its image could not be prepared (${code}):`;
}
