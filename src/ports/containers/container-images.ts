import type { ContainerSpec, RuntimeHandle } from './container-runtime.ts';

/** The name and labels of a container's image. */
export type CaptureSpec = Pick<ContainerSpec, 'dbId' | 'ownerId' | 'generation' | 'operationId'> & {
  /** The image is this snapshot's, not the next container's. */
  readonly snapshotId?: string;
};

/** A captured image of a container of this installation. */
export type CapturedImage = {
  readonly imageId: string;
  /** null when another image has taken its name. */
  readonly reference: string | null;
  /** The container's, or the id of the snapshot that it belongs to. */
  readonly dbId: string;
};

/** Images of containers, from which they are made again with all that is outside their volumes. */
export interface ContainerSnapshots {
  /**
   * Captures an image of a stopped or paused container, without its volume and environment values. Returns its reference; a
   * repeat by the same operation returns the same.
   */
  capture(handle: RuntimeHandle, spec: CaptureSpec): Promise<string>;
  layerImages(): Promise<readonly CapturedImage[]>;
  /** Removes an image that `layerImages` named, unless something is made of it still. */
  removeCaptured(image: CapturedImage): Promise<void>;
}

/** The image that a reference names now. */
export type NamedImage = {
  readonly id: string;
  /** It is of an older version of Berth until a new one is made. Another engine of the same nodes may have that one. */
  readonly isOlder: boolean;
};

/** What a warm pool needs of an engine besides running containers. */
export interface WarmPoolEngine {
  /**
   * Null when the engine lacks it, so that no waiting container is of use. Throws
   * `RuntimeUnavailable` while that is unknown. Never pulls.
   */
  namedImage(reference: string): Promise<NamedImage | null>;
}
