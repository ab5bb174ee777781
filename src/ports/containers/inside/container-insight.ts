import type { Readable } from 'node:stream';
import type { LayerChanges } from '../../../domain/containers/layer/layer-changes.ts';
import { RuntimeFailure, type RuntimeHandle } from '../container-runtime.ts';

export type LogRequest = {
  /** The number of last lines; null for all. */
  readonly tail: number | null;
  /** Continues until the container stops. */
  readonly follow: boolean;
};

/** A running container's present use of processor and memory. */
export type ContainerLoad = {
  readonly at: Date;
  readonly cpuMillicores: number;
  /** Without file caches that the kernel can reclaim. */
  readonly memoryBytes: number;
  readonly pids: number;
  /** How many programs its memory limit has ended since its start; null where the kernel does not count that. */
  readonly memoryKills: number | null;
};

/**
 * The container's own programs, which measure it, did not answer in time or printed something else. Faults of its node or
 * its engine are other errors.
 */
export class LoadUnknown extends RuntimeFailure {
  override name = 'LoadUnknown';
}

/** A running container's present use. */
export type ContainerUsage = ContainerLoad & {
  /** The volume's use, at most 30 s old; null when measuring took too long. */
  readonly diskBytes: number | null;
  /** How many processes the container may have; null where the engine sets no limit of its own. */
  readonly maxProcesses: number | null;
};

/** Inspects containers without changing them. Throws `ContainerNotRunning` when one is gone. */
export interface ContainerInsight {
  /** The output of the container's first program, both streams in order. Destroying it ends the reading. */
  logs(handle: RuntimeHandle, request: LogRequest): Promise<Readable>;
  /** At most 1 s old. Throws `ContainerNotRunning` for a stopped one too. */
  usage(handle: RuntimeHandle): Promise<ContainerUsage>;
  /**
   * The same without the volume, which only a program in the container can measure. Throws like `usage`; `LoadUnknown`
   * where a program in the container measures this, too.
   */
  load(handle: RuntimeHandle): Promise<ContainerLoad>;
  /** All differences from the image outside the volume; sizes and versions only of a running container. */
  changes(handle: RuntimeHandle): Promise<LayerChanges>;
}
