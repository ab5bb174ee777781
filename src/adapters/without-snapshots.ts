import type { ContainerSnapshots } from '../ports/containers/container-images.ts';
import { NotOffered } from '../ports/containers/container-runtime.ts';
import type { VolumeCopies } from '../ports/containers/snapshots/volume-copies.ts';

/** For an engine without images of containers and copies of volumes. `engine`: its kind, for the reason. */
export function withoutSnapshots(engine: string): ContainerSnapshots & VolumeCopies {
  const refuse = (words: string) => async (): Promise<never> => {
    throw new NotOffered('engine', `${engine} ${words}`);
  };
  return {
    capture: refuse('makes no images of containers'),
    layerImages: async () => [],
    removeCaptured: async () => {},
    pause: refuse('pauses no containers'),
    resume: async () => {},
    copyVolume: refuse('copies no volumes'),
  };
}
