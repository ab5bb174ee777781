import type { ContainerSpec, RuntimeHandle } from '../container-runtime.ts';

/** A volume to be made. `dbId`: its container or snapshot. `image`: its tools copy where the machine cannot. */
export type VolumeSpec = Pick<ContainerSpec, 'dbId' | 'volume' | 'resources' | 'image'>;

/**
 * Copies of volumes, and the pause in which they are consistent. Commands are repeatable. Throws like
 * `ContainerRuntime`.
 */
export interface VolumeCopies {
  /** Freezes the programs of a running container. */
  pause(handle: RuntimeHandle): Promise<void>;
  /**
   * Lets the programs of a paused container, and writers to its volume, continue. Does nothing if it runs or is
   * stopped.
   */
  resume(handle: RuntimeHandle): Promise<void>;
  /**
   * Makes a volume with the current files of another. The container of the other must be paused or stopped. A volume
   * left by an earlier attempt is completed; fails when there is no space for it.
   */
  copyVolume(from: string, to: VolumeSpec): Promise<void>;
}
