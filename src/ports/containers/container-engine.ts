import type { EngineCapabilities } from '../../domain/containers/engine-capabilities.ts';
import type { ContainerDisk } from './container-disk.ts';
import type { ContainerSnapshots } from './container-images.ts';
import type { ContainerObserver, ContainerRuntime } from './container-runtime.ts';
import type { VolumeCopies } from './snapshots/volume-copies.ts';

/** All that one engine does for the operations on containers. A use case that needs less asks for that port alone. */
export type ContainerEngine = ContainerRuntime &
  ContainerObserver &
  ContainerDisk &
  ContainerSnapshots &
  VolumeCopies & { readonly capabilities: EngineCapabilities };
