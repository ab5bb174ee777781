import type { ContainerSpec, RuntimeHandle } from '../container-runtime.ts';

/** A volume to be made. `dbId`: what it belongs to. `image`: its tools copy where the machine cannot. */
export type VolumeSpec = Pick<ContainerSpec, 'dbId' | 'volume' | 'resources' | 'image'>;

/** Copies of volumes, and the pause in which they are consistent. Commands are repeatable. Throws like `ContainerRuntime`. */
export interface VolumeCopies {
  /** Freezes the programs of a running container. */
  pause(handle: RuntimeHandle): Promise<void>;
  /** Lets a paused container's programs and its volume's writers continue; does nothing to one that runs or is stopped. */
  resume(handle: RuntimeHandle): Promise<void>;
  /**
   * Makes a volume with the files that another has now. The other one's container must be paused or stopped. A volume
   * left by an earlier attempt is completed; fails when there is no space for it.
   */
  copyVolume(from: string, to: VolumeSpec): Promise<void>;
}
