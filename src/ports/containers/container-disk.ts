import type { HostSpace, Quota } from '../../domain/containers/disk-quota.ts';
import type { LayerUse } from '../../domain/containers/layer/layer-usage.ts';
import type { RuntimeHandle } from './container-runtime.ts';

/** How a volume's size is enforced, which never changes. */
export type VolumeFacts = {
  readonly quota: Quota;
  /** It takes on the `diskMb` of each container started on it; with a size, whether it can take on that one. */
  readonly isResizable: boolean;
  /** It cannot be made smaller than this. Absent: it can be as small as its files. */
  readonly minMb?: number;
};

/** The container to measure a volume through, where there is no better way. */
export type VolumeReader = {
  readonly image: string;
  readonly running: RuntimeHandle | null;
  /** A count that takes longer is given up: its result is null. Absent: the engine's own limit. */
  readonly withinSeconds?: number | undefined;
};

/** The volumes of containers, and the disk that these and the containers use. Throws like `ContainerRuntime`. */
export interface ContainerDisk {
  /** For new volumes. `hard`: writes above `diskMb` are refused. `soft`: the use is only measured. */
  readonly diskQuota: Quota;
  volumeExists(volume: string): Promise<boolean>;
  /** null when there is no such volume. `diskMb`: the size that it is to take on. */
  volumeFacts(volume: string, diskMb?: number): Promise<VolumeFacts | null>;
  /** A volume's present use; null when it does not exist or cannot be measured now. */
  usedBytes(volume: string, reader: VolumeReader): Promise<number | null>;
  /** Removes a volume for good; absent is success. Fails while a container has it. */
  removeVolume(volume: string): Promise<void>;
  /**
   * A container's use outside its volume; null when it is gone or cannot be measured. `image`: the catalogue's.
   */
  layerUse(handle: RuntimeHandle, image: string): Promise<LayerUse | null>;
  /** The file systems that receive new data; none for a remote engine, whose space is unknown. */
  hostSpace(): Promise<readonly HostSpace[]>;
}
