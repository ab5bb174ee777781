import { createHash } from 'node:crypto';
import type { HostSpace, Quota } from '../../../domain/containers/disk-quota.ts';
import {
  type CapturedImage,
  ContainerNotRunning,
  type ContainerRuntime,
  type ContainerSpec,
  type ListedContainer,
  type ObservedContainer,
  RuntimeFailure,
  type RuntimeHandle,
} from '../../../ports/containers/container-runtime.ts';

export type Box = {
  spec: ContainerSpec;
  readonly handle: RuntimeHandle;
  /** null while it is stopped. */
  startedAt: Date | null;
  /** From outside Berth. */
  paused: boolean;
};

export type MemoryVolume = { quota: Quota; usedBytes: number | null; isResizable: boolean };

export type MemoryRuntime = ContainerRuntime & {
  readonly boxes: Map<string, Box>;
  readonly volumes: Map<string, MemoryVolume>;
  readonly images: Map<string, CapturedImage>;
  /** Bytes outside the volume, by runtime id. */
  readonly layers: Map<string, number>;
  /** The result of `hostSpace`. */
  readonly host: { spaces: readonly HostSpace[] };
};

/**
 * Containers as rows in a map: `boxes` by runtime id, captured `images` by reference. Tests set the volumes' use.
 */
export function memoryRuntime(node = 'memory'): MemoryRuntime {
  const boxes = new Map<string, Box>();
  const volumes = new Map<string, MemoryVolume>();
  const images = new Map<string, CapturedImage>();
  const existing = ({ runtimeId }: RuntimeHandle): Box => {
    const box = boxes.get(runtimeId);
    if (box === undefined) throw new ContainerNotRunning(`no such container: ${runtimeId}`, true);
    return box;
  };
  const host: MemoryRuntime['host'] = { spaces: [] };
  const layers = new Map<string, number>();
  return {
    boxes,
    volumes,
    layers,
    host,
    images,
    diskQuota: 'soft',
    ...readsOf(boxes),
    ...volumesOf(boxes, volumes),
    ...capturesOf(boxes, images),
    async create(spec) {
      const runtimeId = createHash('sha256').update(`${node} ${spec.dbId} ${spec.generation}`).digest('hex');
      const handle = { node, runtimeId };
      if (!volumes.has(spec.volume))
        volumes.set(spec.volume, { quota: 'soft', usedBytes: 0, isResizable: true });
      if (!boxes.has(runtimeId)) boxes.set(runtimeId, { spec, handle, startedAt: null, paused: false });
      return handle;
    },
    async start(handle) {
      const box = existing(handle);
      box.startedAt ??= new Date();
      box.paused = false;
    },
    async stop({ runtimeId }) {
      const box = boxes.get(runtimeId);
      if (box === undefined) return 'gone';
      box.startedAt = null;
      box.paused = false;
      return 'stopped';
    },
    async resize(handle, resources) {
      const box = existing(handle);
      box.spec = { ...box.spec, resources };
    },
    async remove({ runtimeId }) {
      boxes.delete(runtimeId);
      layers.delete(runtimeId);
    },
    async ping() {},
    endHung: async () => false,
    watch: () => () => {},
    layerUse: async ({ runtimeId }) =>
      boxes.has(runtimeId) ? { ownBytes: layers.get(runtimeId) ?? 0, snapshotImageBytes: 0 } : null,
    hostSpace: async () => host.spaces,
    async capture(handle, { dbId, generation, operationId }) {
      existing(handle);
      const reference = `carried-${dbId}:g${generation}`;
      images.set(reference, { imageId: `${reference} ${operationId}`, reference, dbId });
      return reference;
    },
  };
}

const readsOf = (boxes: Map<string, Box>): Pick<ContainerRuntime, 'find' | 'observe' | 'list'> => ({
  async find(dbId, generation) {
    const found = [...boxes.values()].find(
      ({ spec }) => spec.dbId === dbId && spec.generation === generation,
    );
    return found?.handle ?? null;
  },
  observe: async ({ runtimeId }) => observed(boxes.get(runtimeId)),
  list: async () =>
    [...boxes.values()].map((box) => ({
      handle: box.handle,
      dbId: box.spec.dbId,
      generation: box.spec.generation,
      state: kindOf(box),
    })),
});

const volumesOf = (
  boxes: Map<string, Box>,
  volumes: Map<string, MemoryVolume>,
): Pick<ContainerRuntime, 'volumeExists' | 'volumeFacts' | 'usedBytes' | 'removeVolume'> => ({
  volumeExists: async (volume) => volumes.has(volume),
  volumeFacts: async (volume) => volumes.get(volume) ?? null,
  usedBytes: async (volume) => volumes.get(volume)?.usedBytes ?? null,
  async removeVolume(volume) {
    if ([...boxes.values()].some(({ spec }) => spec.volume === volume))
      throw new RuntimeFailure(`volume ${volume} is in use`);
    volumes.delete(volume);
  },
});

const capturesOf = (
  boxes: Map<string, Box>,
  images: Map<string, CapturedImage>,
): Pick<ContainerRuntime, 'snapshotImages' | 'removeCaptured'> => ({
  snapshotImages: async () => [...images.values()],
  async removeCaptured({ reference }) {
    const used = [...boxes.values()].some(({ spec }) => spec.image === reference);
    if (reference !== null && !used) images.delete(reference);
  },
});

function kindOf({ startedAt, paused }: Box): ListedContainer['state'] {
  if (startedAt === null) return 'stopped';
  return paused ? 'paused' : 'running';
}

function observed(box: Box | undefined): ObservedContainer {
  if (box === undefined) return { kind: 'gone' };
  if (kindOf(box) === 'paused') return { kind: 'paused' };
  return box.startedAt === null
    ? { kind: 'stopped', exitCode: 0 }
    : { kind: 'running', startedAt: box.startedAt };
}
