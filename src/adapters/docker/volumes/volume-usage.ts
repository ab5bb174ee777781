import { statfs } from 'node:fs/promises';
import type { HostSpace } from '../../../domain/containers/disk-quota.ts';
import type { VolumeReader } from '../../../ports/containers/container-disk.ts';
import { COUNT_SECONDS, diskBytes } from '../../scripts/insight/disk-usage.ts';
import { type EngineCalls, LIMITS } from '../engine/engine-client.ts';
import { runOneShot } from '../engine/one-shot-container.ts';
import { dockerPrograms } from '../exec/container-programs.ts';
import { isRoot, run } from '../host/host-commands.ts';

/** Of a stopped container's volume, which is measured for a request. */
const REQUEST_SECONDS = 20;

type Counted = {
  readonly instanceId: string;
  readonly volume: string;
  /** The engine's folder for it, if it can be on this machine. */
  readonly folder: string | null;
  readonly reader: VolumeReader;
};

/**
 * Bytes in a volume on a shared file system, measured on this machine where possible, since the tools inside belong to
 * the user; else in the running container, or in one made for it. Null when it took too long.
 */
export async function countedBytes(
  calls: EngineCalls,
  { instanceId, volume, folder, reader }: Counted,
): Promise<number | null> {
  if (folder !== null && isRoot()) {
    const { code, stdout } = await run('nice', ['-n', '19', 'du', '-skx', '--', folder], {
      timeoutSeconds: reader.withinSeconds ?? (reader.running === null ? REQUEST_SECONDS : COUNT_SECONDS),
    });
    // du reports vanishing files as errors, but the sum is right.
    if (code <= 1 && /^\d+\s/.test(stdout)) return Number.parseInt(stdout, 10) * 1024;
    if (code > 1) return null;
  }
  return reader.running === null
    ? await countedBeside(calls, instanceId, volume, reader.image)
    : await diskBytes(dockerPrograms(calls), reader.running.runtimeId, reader.withinSeconds);
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
      .wait({ abortSignal: AbortSignal.timeout(REQUEST_SECONDS * 1000) })
      .catch(() => null);
    if (ended === null) return null;
    const log = await calls.read(LIMITS.inspect, (abortSignal) =>
      container.logs({ stdout: true, abortSignal }),
    );
    const kib = /(\d+)\s+\/workspace/.exec(log.toString())?.[1];
    return kib === undefined ? null : Number(kib) * 1024;
  });
}

/** A folder on this machine that receives new data. */
export type DataFolder = { readonly path: string; readonly isPool: boolean };

export async function hostSpace(folders: readonly DataFolder[]): Promise<readonly HostSpace[]> {
  const spaces = await Promise.all(folders.map(spaceAt));
  return spaces.filter((space) => space !== null);
}

const spaceAt = async ({ path, isPool }: DataFolder): Promise<HostSpace | null> =>
  await statfs(path).then(
    ({ bavail, blocks, bsize }) => ({ path, freeBytes: bavail * bsize, totalBytes: blocks * bsize, isPool }),
    () => null,
  );
