import type { ChainHead, ChainLink } from '../domain/audit-chain.ts';

/** Records of the audit, sealed one behind the other. Only grows. */
export interface AuditChain {
  /** Seals records that are committed and not sealed yet, the oldest first; how many. 0 while another process does it. */
  seal(atMost: number): Promise<number>;
  /** A part of the chain, in order, behind that number. */
  links(behind: bigint, limit: number): Promise<readonly ChainLink[]>;
  /** Null for an empty chain. */
  head(): Promise<ChainHead | null>;
  /** A record that is neither sealed nor waiting to be, or waits and is not there; null when there is none. */
  stray(): Promise<string | null>;
}
