import { statfs } from 'node:fs/promises';
import type { HostSpace } from '../../../domain/containers/disk-quota.ts';
import type { VolumeReader } from '../../../ports/containers/container-runtime.ts';
import { type EngineCalls, LIMITS } from '../engine/engine-client.ts';
import { runOneShot } from '../engine/one-shot-container.ts';
import { isRoot, run } from '../host/host-commands.ts';
import { diskBytes } from '../insight/disk-usage.ts';

/** What takes longer is not known; it is counted again with the next turn. */
const COUNT_SECONDS = 20;

type Counted = {
  readonly instanceId: string;
  readonly volume: string;
  /** Where the engine keeps it, when that can be on this machine. */
  readonly folder: string | null;
  readonly reader: VolumeReader;
};

/**
 * Bytes in a volume that shares a file system: counted on this machine where that can be, for tools inside are the
 * user's own; else in the container when it runs, else in a container made for it. Null when it took too long.
 */
export async function countedBytes(
  calls: EngineCalls,
  { instanceId, volume, folder, reader }: Counted,
): Promise<number | null> {
  if (folder !== null && isRoot()) {
    const { code, stdout } = await run('nice', ['-n', '19', 'du', '-skx', '--', folder], {
      timeoutSeconds: COUNT_SECONDS,
    });
    // Files that vanish meanwhile are faults to du; the sum stands nevertheless.
    if (code <= 1 && /^\d+\s/.test(stdout)) return Number.parseInt(stdout, 10) * 1024;
    if (code > 1) return null;
  }
  return reader.running === null
    ? await countedBeside(calls, instanceId, volume, reader.image)
    : await diskBytes(calls, reader.running.runtimeId, COUNT_SECONDS);
}

function countedBeside(
  calls: EngineCalls,
  instanceId: string,
  volume: string,
  image: string,
): Promise<number | null> {
  const counting = {
    instanceId,
    image,
    entrypoint: ['du', '-skx', '/workspace'],
    mount: { volume, at: '/workspace', isReadOnly: true },
    rights: { CapAdd: ['DAC_READ_SEARCH'] },
  };
  return runOneShot(calls, counting, async (container) => {
    const ended = await container
      .wait({ abortSignal: AbortSignal.timeout(COUNT_SECONDS * 1000) })
      .catch(() => null);
    if (ended === null) return null;
    const log = await calls.read(LIMITS.inspect, (abortSignal) =>
      container.logs({ stdout: true, abortSignal }),
    );
    const kib = /(\d+)\s+\/workspace/.exec(log.toString())?.[1];
    return kib === undefined ? null : Number(kib) * 1024;
  });
}

/** A folder on this machine that new data goes to. */
export type DataFolder = { readonly path: string; readonly isPool: boolean };

/** The file systems of these folders, as far as they can be looked at. */
export async function hostSpace(folders: readonly DataFolder[]): Promise<readonly HostSpace[]> {
  const spaces = await Promise.all(folders.map(spaceAt));
  return spaces.filter((space) => space !== null);
}

async function spaceAt({ path, isPool }: DataFolder): Promise<HostSpace | null> {
  return await statfs(path).then(
    ({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, totalBytes: blocks * bsize, isPool }),
    () => null,
  );
}
