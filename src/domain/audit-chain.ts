import { createHash } from 'node:crypto';

/** What a seal covers: every column of a record, as text. */
export type SealedContent = {
  readonly id: string;
  readonly userId: string | null;
  readonly action: string;
  readonly ipAddress: string;
  readonly userAgent: string;
  readonly details: string;
  /** Microseconds since 1970, in decimal: as exact as the database keeps it. */
  readonly createdAtMicros: string;
};

/** The end of the chain so far. `hash` is in hex. */
export type ChainHead = { readonly seq: bigint; readonly hash: string };

/** One link as it is stored; `content` is null when the record is not there any more. */
export type ChainLink = ChainHead & { readonly recordId: string; readonly content: SealedContent | null };

export type BrokenLink = { readonly seq: bigint; readonly recordId: string; readonly why: ChainFault };

export type ChainFault =
  /** A number was left out or comes twice. */
  | 'out of order'
  /** The record was deleted. */
  | 'record missing'
  /** The record, the link or the one before it was changed or put elsewhere. */
  | 'hash differs';

/** Where every chain begins. */
export const GENESIS: ChainHead = { seq: 0n, hash: '0'.repeat(64) };

/** The hash that seals a record behind that head. The fields stand in a list, so that none can flow into the next. */
export function sealOf(head: ChainHead, content: SealedContent): string {
  const { id, userId, action, ipAddress, userAgent, details, createdAtMicros } = content;
  const fields = [head.hash, id, userId, action, ipAddress, userAgent, details, createdAtMicros];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

/** The head once that record is sealed. */
export const sealed = (head: ChainHead, content: SealedContent): ChainHead => ({
  seq: head.seq + 1n,
  hash: sealOf(head, content),
});

/** The head behind a link that holds, or what is wrong with it. */
export function follow(head: ChainHead, link: ChainLink): { head: ChainHead } | { broken: BrokenLink } {
  const why = faultOf(head, link);
  if (why !== null) return { broken: { seq: link.seq, recordId: link.recordId, why } };
  return { head: { seq: link.seq, hash: link.hash } };
}

function faultOf(head: ChainHead, { seq, hash, recordId, content }: ChainLink): ChainFault | null {
  if (seq !== head.seq + 1n) return 'out of order';
  if (content === null) return 'record missing';
  return content.id === recordId && sealOf(head, content) === hash ? null : 'hash differs';
}

const HEAD = /^(\d{1,18}):([0-9a-f]{64})$/;

/** A head as people write it down, `12:ab…`; null when it is none. */
export function parseHead(text: string): ChainHead | null {
  const [, seq, hash] = HEAD.exec(text.trim().toLowerCase()) ?? [];
  return seq === undefined || hash === undefined ? null : { seq: BigInt(seq), hash };
}

export const headText = ({ seq, hash }: ChainHead): string => `${seq}:${hash}`;
