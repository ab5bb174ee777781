import type { HostFigures, LoadNow } from '../../../domain/containers/capacity/capacity.ts';

/** The machine of an engine, measured without a call for each container. */
export interface EngineHost {
  /** Throws like `ContainerRuntime`. */
  figures(): Promise<HostFigures>;
  /** What this installation's running containers use, by runtime id; null where it is invisible, as on another machine. */
  loads(): Promise<ReadonlyMap<string, LoadNow> | null>;
}
