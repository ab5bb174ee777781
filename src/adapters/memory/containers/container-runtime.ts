import { createHash } from 'node:crypto';
import { ALL_CAPABILITIES } from '../../../domain/containers/engine-capabilities.ts';
import type { ContainerEngine } from '../../../ports/containers/container-engine.ts';
import type { CapturedImage } from '../../../ports/containers/container-images.ts';
import {
  ContainerNotRunning,
  type ContainerObserver,
  type ContainerRuntime,
  type ContainerSpec,
  type ListedContainer,
  type ObservedContainer,
  type RuntimeHandle,
} from '../../../ports/containers/container-runtime.ts';
import { type MemoryDisk, memoryDisk } from './container-disk.ts';
import { memorySnapshots } from './container-images.ts';
import { memoryVolumeCopies } from './snapshots/volume-copies.ts';

export type Box = {
  spec: ContainerSpec;
  readonly handle: RuntimeHandle;
  /** null while it is stopped. */
  startedAt: Date | null;
  /** Paused for a snapshot, or from outside Berth. */
  paused: boolean;
  /** Made for the warm pool, and never claimed. */
  isMember: boolean;
};

export type MemoryRuntime = ContainerEngine &
  MemoryDisk & {
    readonly boxes: Map<string, Box>;
    readonly images: Map<string, CapturedImage>;
  };

/**
 * Containers as rows in a map: `boxes` by runtime id, captured `images` by reference. Tests set the volumes' use.
 */
export function memoryRuntime(node = 'memory', capabilities = ALL_CAPABILITIES): MemoryRuntime {
  const boxes = new Map<string, Box>();
  const images = new Map<string, CapturedImage>();
  const disk: MemoryDisk = { volumes: new Map(), layers: new Map(), host: { spaces: [] } };
  return {
    capabilities,
    boxes,
    images,
    ...disk,
    ...lifecycleOf(boxes, disk, node),
    ...observerOf(boxes),
    ...memoryDisk(disk, boxes),
    ...memorySnapshots(images, boxes),
    ...memoryVolumeCopies(boxes, disk),
  };
}

function lifecycleOf(
  boxes: Map<string, Box>,
  { volumes, layers }: MemoryDisk,
  node: string,
): ContainerRuntime {
  const existing = ({ runtimeId }: RuntimeHandle): Box => {
    const box = boxes.get(runtimeId);
    if (box === undefined) throw new ContainerNotRunning(`no such container: ${runtimeId}`, true);
    return box;
  };
  return {
    async create(spec) {
      const runtimeId = createHash('sha256').update(`${node} ${spec.dbId} ${spec.generation}`).digest('hex');
      const handle = { node, runtimeId };
      if (!volumes.has(spec.volume))
        volumes.set(spec.volume, { quota: 'soft', usedBytes: 0, isResizable: true });
      const isMember = spec.isMember === true;
      if (!boxes.has(runtimeId))
        boxes.set(runtimeId, { spec, handle, startedAt: null, paused: false, isMember });
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
    async claim({ runtimeId }) {
      const box = boxes.get(runtimeId);
      if (box?.isMember !== true) return false;
      box.isMember = false;
      return true;
    },
    endHung: async () => false,
  };
}

const observerOf = (boxes: ReadonlyMap<string, Box>): ContainerObserver => ({
  async ping() {},
  watch: () => () => {},
  async find(dbId, generation) {
    const found = [...boxes.values()].find(
      ({ spec }) => spec.dbId === dbId && spec.generation === generation,
    );
    return found?.handle ?? null;
  },
  findMember: async (dbId) =>
    [...boxes.values()].find(({ spec, isMember }) => isMember && spec.dbId === dbId)?.handle ?? null,
  observe: async ({ runtimeId }) => observed(boxes.get(runtimeId)),
  list: async () =>
    [...boxes.values()].map((box) => ({
      handle: box.handle,
      dbId: box.spec.dbId,
      generation: box.spec.generation,
      state: kindOf(box),
      ...(box.isMember && { isMember: true }),
    })),
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
