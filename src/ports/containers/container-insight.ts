import type { Readable } from 'node:stream';
import type { LayerChanges } from '../../domain/containers/layer-changes.ts';
import type { RuntimeHandle } from './container-runtime.ts';

export type LogRequest = {
  /** Lines from the end; null for all that the engine still has. */
  readonly tail: number | null;
  /** Goes on until the container stops. */
  readonly follow: boolean;
};

/** What a running container uses now. */
export type ContainerUsage = {
  readonly at: Date;
  readonly cpuMillicores: number;
  /** Without the cache of files that the kernel gives back at need. */
  readonly memoryBytes: number;
  readonly pids: number;
  /** Of the volume; null when it took too long to measure. At most 30 s old. */
  readonly diskBytes: number | null;
};

/** Looks at containers without changing them. Throws `ContainerNotRunning` for one that is gone. */
export interface ContainerInsight {
  /** Text as the container's first program wrote it, both streams in order. Destroying it ends the reading. */
  logs(handle: RuntimeHandle, request: LogRequest): Promise<Readable>;
  /** At most 1 s old. Throws `ContainerNotRunning` as well when it is stopped. */
  usage(handle: RuntimeHandle): Promise<ContainerUsage>;
  /** All that differs from the image, outside the volume; sizes and versions only of a running one. */
  changes(handle: RuntimeHandle): Promise<LayerChanges>;
}
