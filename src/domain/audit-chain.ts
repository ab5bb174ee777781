import { createHash } from 'node:crypto';

/** What a seal covers: every column of a record, as text. */
export type SealedContent = {
  readonly id: string;
  readonly userId: string | null;
  readonly action: string;
  readonly ipAddress: string;
  readonly userAgent: string;
  readonly details: string;
  /** Microseconds since 1970, in decimal: the database's precision. */
  readonly createdAtMicros: string;
};

/** The end of the chain so far. `hash` is hexadecimal. */
export type ChainHead = { readonly seq: bigint; readonly hash: string };

/** One stored link; `content` is null when the record is gone. */
export type ChainLink = ChainHead & { readonly recordId: string; readonly content: SealedContent | null };

export type BrokenLink = { readonly seq: bigint; readonly recordId: string; readonly why: ChainFault };

export type ChainFault =
  /** A number is missing or repeated. */
  | 'out of order'
  /** The record was deleted. */
  | 'record missing'
  /** The record, this link or the previous one was changed or moved. */
  | 'hash differs';

/** The start of every chain. */
export const GENESIS: ChainHead = { seq: 0n, hash: '0'.repeat(64) };

/** The hash that seals a record after `head`. The fields are hashed as a list, so none can run into the next. */
export function sealOf(head: ChainHead, content: SealedContent): string {
  const { id, userId, action, ipAddress, userAgent, details, createdAtMicros } = content;
  const fields = [head.hash, id, userId, action, ipAddress, userAgent, details, createdAtMicros];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

export const sealed = (head: ChainHead, content: SealedContent): ChainHead => ({
  seq: head.seq + 1n,
  hash: sealOf(head, content),
});

/** The head after a valid link, or what is wrong with the link. */
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

/** Parses a head as people write it, `12:ab…`; null if malformed. */
export function parseHead(text: string): ChainHead | null {
  const [, seq, hash] = HEAD.exec(text.trim().toLowerCase()) ?? [];
  return seq === undefined || hash === undefined ? null : { seq: BigInt(seq), hash };
}

export const headText = ({ seq, hash }: ChainHead): string => `${seq}:${hash}`;
