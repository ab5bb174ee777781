import { join } from 'node:path';
import {
  chooseQuota,
  type QuotaChoice,
  type QuotaFault,
  type QuotaSetting,
} from '../../../domain/containers/disk-quota.ts';
import { type EngineCalls, engineCalls, engineInfo, LIMITS, orNull } from '../engine/engine-client.ts';
import { installPackages, missingPackages } from '../engine/host-packages.ts';
import { isRoot, type Log } from '../host/host-commands.ts';
import { shortHash } from '../network/subnet.ts';
import type { RunningEngine } from '../private-engine/open-engine.ts';
import { bindOf, type DiskSettings } from './container-volumes.ts';
import { type RootOwner, volumeImages } from './disk-image.ts';
import { CANARY_MB, canaryVolume, overfill } from './quota-probe.ts';
import type { DataFolder } from './volume-usage.ts';

export type QuotaRequest = {
  readonly setting: QuotaSetting;
  readonly instanceId: string;
  readonly dataDir: string;
  readonly mayInstall: boolean;
  readonly progress: (message: string) => void;
  readonly log: Log;
  /** Aborts the installation of tools and what has not started. */
  readonly signal?: AbortSignal | undefined;
};

export type ChosenQuota = { readonly disk: DiskSettings; readonly choice: QuotaChoice };

const TOOLS = {
  'mkfs.ext4': 'e2fsprogs',
  e2fsck: 'e2fsprogs',
  resize2fs: 'e2fsprogs',
  losetup: 'mount',
  mount: 'mount',
  flock: 'util-linux',
  fsfreeze: 'util-linux',
} as const;

/** Where an installation's images are mounted: apart from the engine's folders, which are removed as a whole. */
export const mountsOf = (instanceId: string): string => `/run/berth-${shortHash(instanceId)}-volumes`;

/** Tries each method for a hard quota until one has refused what does not fit. Never throws. */
export async function chooseDiskQuota(engine: RunningEngine, request: QuotaRequest): Promise<ChosenQuota> {
  const calls = engineCalls(engine.docker);
  const { instanceId, dataDir, setting } = request;
  const canHaveImages = engine.isLocal && isRoot();
  const { rootOwner, rootFolder } = await factsOf(calls).catch(() => ({ rootOwner: ROOT, rootFolder: '' }));
  const settings: DiskSettings = {
    mode: 'measured',
    images: canHaveImages
      ? volumeImages({ images: join(dataDir, 'volumes'), mounts: mountsOf(instanceId) })
      : null,
    folders: foldersOf(engine, dataDir, rootFolder),
    rootOwner,
    isLocal: engine.isLocal,
  };
  const faults = setting === 'soft' ? { image: null, engine: null } : await tryBoth(calls, settings, request);
  const choice = chooseQuota(setting, faults.image, faults.engine);
  return { disk: { ...settings, mode: choice.mode }, choice };
}

const foldersOf = (
  { isLocal, poolFault }: RunningEngine,
  dataDir: string,
  rootFolder: string,
): readonly DataFolder[] =>
  isLocal && rootFolder !== ''
    ? [
        { path: dataDir, isPool: false },
        { path: rootFolder, isPool: poolFault === null },
      ]
    : [];

async function tryBoth(
  calls: EngineCalls,
  settings: DiskSettings,
  request: QuotaRequest,
): Promise<{ readonly image: QuotaFault; readonly engine: QuotaFault }> {
  const image = await faultOf(tryImage(calls, settings, request));
  if (image === null || request.signal?.aborted) return { image, engine: 'not tested' };
  const canary = canaryVolume(request.instanceId, request.dataDir);
  return { image, engine: await faultOf(tryVolume(calls, canary, { size: `${CANARY_MB}m` })) };
}

async function tryImage(
  calls: EngineCalls,
  { images, rootOwner: owner }: DiskSettings,
  request: QuotaRequest,
): Promise<QuotaFault> {
  const { instanceId, dataDir, mayInstall } = request;
  if (images === null) return 'images need root on the machine of the engine';
  const absent = [...new Set(await missingPackages(TOOLS))];
  if (absent.length > 0) {
    if (!mayInstall) return `images need ${absent.join(', ')}`;
    await installPackages(absent, request);
  }
  const volume = canaryVolume(instanceId, dataDir);
  const image = images.imageOf(volume);
  try {
    await images.remove(volume, image);
    await images.make(volume, image, CANARY_MB, owner);
    await images.mount(volume, image, null, 'strict');
    return await tryVolume(calls, volume, bindOf(images.dataOf(volume)));
  } finally {
    await images.remove(volume, image);
  }
}

async function tryVolume(
  calls: EngineCalls,
  name: string,
  DriverOpts: Record<string, string>,
): Promise<QuotaFault> {
  const { docker } = calls;
  const remove = (): Promise<unknown> =>
    calls.change(LIMITS.start, (abortSignal) =>
      orNull([404], docker.getVolume(name).remove({ abortSignal })),
    );
  await remove();
  try {
    await calls.change(LIMITS.start, (abortSignal) =>
      docker.createVolume({ Name: name, DriverOpts, abortSignal }),
    );
    return await overfill(calls, name);
  } finally {
    await remove();
  }
}

const faultOf = (trial: Promise<QuotaFault>): Promise<QuotaFault> =>
  trial.catch((error: unknown) => (error instanceof Error ? error.message : String(error)).trim());

const ROOT: RootOwner = { uid: 0, gid: 0 };

/** With user namespaces the engine's folder is named after the host ids of a container's root. */
async function factsOf(calls: EngineCalls): Promise<{ rootOwner: RootOwner; rootFolder: string }> {
  const info = await calls.read(LIMITS.inspect, (signal) => engineInfo(calls.docker, signal));
  const { DockerRootDir: rootFolder = '', SecurityOptions = [] } = info as {
    DockerRootDir?: string;
    SecurityOptions?: readonly string[];
  };
  const remapped = /\/(\d+)\.(\d+)$/.exec(rootFolder);
  const isRemapped = SecurityOptions.some((option) => option.startsWith('name=userns'));
  const rootOwner =
    isRemapped && remapped !== null ? { uid: Number(remapped[1]), gid: Number(remapped[2]) } : ROOT;
  return { rootOwner, rootFolder };
}
