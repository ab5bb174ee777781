import type Docker from 'dockerode';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import type { VolumeCopies, VolumeSpec } from '../../../ports/containers/snapshots/volume-copies.ts';
import { inspect } from '../containers/create-container.ts';
import { removeNow } from '../containers/stale-containers.ts';
import { type EngineCalls, LIMITS } from '../engine/engine-client.ts';
import { containersWith } from '../engine/engine-lists.ts';
import { PASSING_LABEL } from '../engine/engine-names.ts';
import { runOneShot } from '../engine/one-shot-container.ts';
import type { Ownership } from '../engine/ownership.ts';
import { isRoot } from '../host/host-commands.ts';
import { type DiskSettings, type Volumes, volumeOf } from './container-volumes.ts';
import { COPY_SECONDS, copyFolder } from './copy-folder.ts';

export type DockerParts = {
  readonly calls: EngineCalls;
  readonly own: Ownership;
  readonly volumes: Volumes;
};

/** Pauses containers and copies volumes, on one Docker engine. */
export const dockerVolumeCopies = (
  { calls, own, volumes }: DockerParts,
  disk: DiskSettings,
  instanceId: string,
): VolumeCopies => ({
  async pause(handle) {
    const container = await own.require(handle);
    const pausing = (abortSignal: AbortSignal) => container.pause({ abortSignal });
    await calls.pause(container.id, LIMITS.start, pausing).catch(async (error: unknown) => {
      const info = await inspect(calls, container.id);
      // Already paused, or nothing runs that could write.
      if (info?.State.Running && !info.State.Paused) throw error;
    });
  },

  async resume(handle) {
    const container = await own.find(handle);
    const info = container === null ? null : await inspect(calls, container.id);
    if (container === null || info === null) return;
    const volume = volumeOf(info.Mounts);
    if (volume !== null) await volumes.withImage(volume, (images) => images.thaw(volume));
    if (info.State.Paused) await unpause(calls, container);
  },

  async copyVolume(from, to) {
    let isImage = false;
    await volumes.withImage(from, async (images, image) => {
      isImage = true;
      await images.copy(from, image, to.volume);
    });
    await volumes.ensure(to);
    await volumes.withImage(to.volume, (images, image) => images.unmount(to.volume, image));
    if (isImage) return;
    const [source, target] = [await volumes.folder(from), await volumes.folder(to.volume)];
    if (disk.isLocal && isRoot()) await copyFolder(source, target);
    else await copyInContainer(calls, instanceId, from, to);
  },
});

/** Resumes a paused container; already resumed is success. */
export async function unpause(calls: EngineCalls, container: Docker.Container): Promise<void> {
  const waking = calls.change(LIMITS.start, (abortSignal) => container.unpause({ abortSignal }), {
    runtimeId: container.id,
  });
  await waking.catch(async (error: unknown) => {
    const info = await inspect(calls, container.id);
    if (!info?.State.Running || info.State.Paused) throw error;
  });
}

const COPY_TO = '/to';
/** As `copyFolder`, with the tools of a container's image, which may know fewer options. */
const COPY_IN_CONTAINER = `find ${COPY_TO} -mindepth 1 -delete && cp -a /from/. ${COPY_TO}/`;

/** A copy outlives the service that began it, and would write into the next one's files. */
async function endEarlierCopies(calls: EngineCalls, instanceId: string, volume: string): Promise<void> {
  const passing = await containersWith(calls, [`${PASSING_LABEL}=${instanceId}`]);
  const earlier = passing.filter(({ Mounts }) =>
    Mounts.some(({ Name, Destination }) => Name === volume && Destination === COPY_TO),
  );
  await Promise.all(earlier.map(({ Id }) => removeNow(calls, Id)));
}

async function copyInContainer(
  calls: EngineCalls,
  instanceId: string,
  from: string,
  { volume, image }: VolumeSpec,
): Promise<void> {
  await endEarlierCopies(calls, instanceId, volume);
  const copying = {
    instanceId,
    image,
    entrypoint: ['sh', '-c', COPY_IN_CONTAINER],
    mount: { volume: from, at: '/from', isReadOnly: true },
    otherMount: { volume, at: COPY_TO, isReadOnly: false },
    rights: { CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'] },
  };
  const { StatusCode } = await runOneShot(calls, copying, (container) =>
    container.wait({ abortSignal: AbortSignal.timeout(COPY_SECONDS * 1000) }),
  );
  if (StatusCode !== 0)
    throw new RuntimeFailure(`a volume could not be copied: tools ended with ${StatusCode}`);
}
