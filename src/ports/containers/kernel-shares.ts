import type { KernelReading } from '../../domain/containers/kernel-share.ts';

/** Use of kernel counters that containers share. */
export interface KernelShares {
  /**
   * The present use of this installation's running containers; null where their processes are invisible, as on another
   * machine. Each pass is bounded: a container with very many open files takes several.
   */
  read(): Promise<KernelReading | null>;
}
