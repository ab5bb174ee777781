import { hostname } from 'node:os';
import { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { Header } from 'tar/header';
import type { QuotaFault } from '../../../domain/containers/disk-quota.ts';
import { type EngineCalls, LIMITS, orNull } from '../engine/engine-client.ts';
import { followToEnd } from '../engine/engine-progress.ts';
import { shortHash } from '../network/subnet.ts';

/** The size of the overfilled volume. */
export const CANARY_MB = 8;
const FITS_MB = 1;
/** More than any method allows for so small a volume. */
const TOO_MUCH_MB = 40;
const MIB = 1024 * 1024;
const ANSWER_SECONDS = 30;

/** A name for each process of an installation, by its data folder: after a boot they all test at the same time. */
export const canaryVolume = (instanceId: string, dataDir: string): string =>
  `berth-canary-${shortHash(`${instanceId} ${hostname()} ${dataDir}`)}`;

/**
 * Whether the engine refuses what does not fit: it writes into the volume through its own mounts, for a container that
 * never runs, of an empty image. Null when it refuses that and accepts what fits.
 */
export async function overfill(calls: EngineCalls, volume: string): Promise<QuotaFault> {
  const { docker } = calls;
  const image = `berth/canary:${volume}`;
  const name = volume;
  await clear(calls, name);
  try {
    const [repo, tag] = image.split(':') as [string, string];
    const empty = Readable.from([Buffer.alloc(1024)]);
    await calls.change(LIMITS.create, async (abortSignal) =>
      followToEnd(await docker.importImage(empty, { repo, tag, abortSignal }), () => {}),
    );
    const container = await calls.change(LIMITS.create, (abortSignal) =>
      docker.createContainer({
        name,
        Image: image,
        Cmd: ['none'],
        HostConfig: {
          NetworkMode: 'none',
          Mounts: [{ Type: 'volume', Source: volume, Target: '/workspace', ReadOnly: false }],
        },
        abortSignal,
      }),
    );
    const small = await write(container, FITS_MB);
    if (small !== null) return `the engine could not write into a volume: ${small}`;
    const large = await write(container, TOO_MUCH_MB);
    if (large === null) return 'the engine let a volume grow beyond its size';
    return /no space left|disk quota exceeded/i.test(large) ? null : `overfilling a volume: ${large}`;
  } finally {
    await clear(calls, name);
    await calls
      .change(LIMITS.start, (abortSignal) => docker.getImage(image).remove({ abortSignal }))
      .catch(() => {});
  }
}

const clear = ({ docker, change }: EngineCalls, name: string): Promise<unknown> =>
  change(LIMITS.start, (abortSignal) =>
    orNull([404], docker.getContainer(name).remove({ force: true, abortSignal })),
  ).catch(() => null);

/** Null when everything was written, else the engine's message. */
async function write(container: Docker.Container, sizeMb: number): Promise<QuotaFault> {
  const abortSignal = AbortSignal.timeout(ANSWER_SECONDS * 1000);
  try {
    await container.putArchive(Readable.from(archive(sizeMb)), { path: '/workspace', abortSignal } as {
      path: string;
    });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.trim() : String(error);
  }
}

function* archive(sizeMb: number): Generator<Buffer> {
  const header = new Header({
    path: 'canary',
    type: 'File',
    mode: 0o600,
    size: sizeMb * MIB,
    mtime: new Date(0),
  });
  header.encode();
  if (header.block !== undefined) yield header.block;
  const block = Buffer.alloc(MIB, 0x5a);
  for (let left = sizeMb; left > 0; left -= 1) yield block;
  yield Buffer.alloc(1024);
}
