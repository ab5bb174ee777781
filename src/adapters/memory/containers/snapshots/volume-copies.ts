import {
  ContainerNotRunning,
  RuntimeFailure,
  type RuntimeHandle,
} from '../../../../ports/containers/container-runtime.ts';
import type { VolumeCopies } from '../../../../ports/containers/snapshots/volume-copies.ts';
import type { MemoryDisk } from '../container-disk.ts';
import { copyOf } from '../inside/file-tree.ts';

/** Containers by runtime id. */
type Pausable = ReadonlyMap<string, { startedAt: Date | null; paused: boolean }>;

export const memoryVolumeCopies = (boxes: Pausable, { volumes }: MemoryDisk): VolumeCopies => ({
  async pause({ runtimeId }: RuntimeHandle) {
    const box = boxes.get(runtimeId);
    if (box === undefined) throw new ContainerNotRunning(`no such container: ${runtimeId}`, true);
    box.paused = box.startedAt !== null;
  },
  async resume({ runtimeId }) {
    const box = boxes.get(runtimeId);
    if (box !== undefined) box.paused = false;
  },
  async copyVolume(from, { volume }) {
    const source = volumes.get(from);
    if (source === undefined) throw new RuntimeFailure(`volume ${from} is gone`);
    volumes.set(volume, { ...source, ...(source.files && { files: copyOf(source.files) }) });
  },
});
