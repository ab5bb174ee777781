import type { ChainHead, ChainLink } from '../domain/audit-chain.ts';

/** The audit's hash chain. Append-only. */
export interface AuditChain {
  /** Seals committed unsealed records, oldest first; returns their number, 0 while another process is sealing. */
  seal(atMost: number): Promise<number>;
  /** The links after that number, in order. */
  links(behind: bigint, limit: number): Promise<readonly ChainLink[]>;
  /** Null for an empty chain. */
  head(): Promise<ChainHead | null>;
  /** A record that is neither sealed nor waiting, or that waits but is missing; null when there is none. */
  stray(): Promise<string | null>;
}
