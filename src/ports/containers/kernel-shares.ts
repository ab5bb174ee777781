import type { KernelReading } from '../../domain/containers/kernel-share.ts';

/** What containers take of counters of the kernel that they share. */
export interface KernelShares {
  /**
   * What running containers of this installation have now; null where their processes cannot be seen, as on another machine. Each look
   * is bounded: a container with very many open files is looked through over several.
   */
  read(): Promise<KernelReading | null>;
}
