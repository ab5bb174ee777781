import { type BrokenLink, type ChainHead, follow, GENESIS } from '../../domain/audit-chain.ts';
import type { AuditChain } from '../../ports/audit-chain.ts';

const PART = 1_000;

export type AuditVerdict =
  | { readonly kind: 'whole'; readonly head: ChainHead }
  | { readonly kind: 'broken'; readonly link: BrokenLink }
  /** A record that is neither sealed nor waiting. */
  | { readonly kind: 'stray'; readonly recordId: string }
  /** The chain does not contain the expected head. */
  | { readonly kind: 'other_head'; readonly expected: ChainHead };

/** Verifies the whole chain in parts. `expected`: a head of an earlier check that it must contain. */
export async function checkAudit(chain: AuditChain, expected: ChainHead | null): Promise<AuditVerdict> {
  let head = GENESIS;
  let met = expected === null || isSame(expected, GENESIS);
  for (;;) {
    const links = await chain.links(head.seq, PART);
    for (const link of links) {
      const next = follow(head, link);
      if ('broken' in next) return { kind: 'broken', link: next.broken };
      head = next.head;
      met ||= expected !== null && isSame(expected, head);
    }
    if (links.length === 0) break;
  }
  const stray = await chain.stray();
  if (stray !== null) return { kind: 'stray', recordId: stray };
  return met || expected === null ? { kind: 'whole', head } : { kind: 'other_head', expected };
}

const isSame = (a: ChainHead, b: ChainHead): boolean => a.seq === b.seq && a.hash === b.hash;
