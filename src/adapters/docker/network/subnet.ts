import { createHash } from 'node:crypto';

/** Eight hex digits that stay the same for the same text: fits into interface and chain names. */
export const shortHash = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 8);

type Block = { readonly first: number; readonly last: number };

/** The addresses of `a.b.c.d/n`; a bare address is a block of one. Null when it is not IPv4. */
export function blockOf(cidr: string): Block | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/.exec(cidr.trim());
  if (match === null) return null;
  const parts = match.slice(1, 5).map(Number);
  const bits = match[5] === undefined ? 32 : Number(match[5]);
  if (parts.some((part) => part > 255) || bits > 32) return null;
  const address = parts.reduce((sum, part) => sum * 256 + part, 0);
  const size = 2 ** (32 - bits);
  const first = address - (address % size);
  return { first, last: first + size - 1 };
}

const overlap = (a: Block, b: Block): boolean => a.first <= b.last && b.first <= a.last;

/** Whether one of the blocks holds the address; anything that is not IPv4 is in none. */
export function isWithin(address: string, cidrs: readonly string[]): boolean {
  const block = blockOf(address);
  return block !== null && cidrs.some((cidr) => overlap(block, blockOf(cidr) ?? { first: -1, last: -1 }));
}

/** Networks that containers must not reach: private, carrier, link-local (metadata), multicast and reserved. */
export const INTERNAL_NETWORKS = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '224.0.0.0/3',
] as const;

const SIZE = 4096;
const CHOICES = 2 ** 24 / SIZE;
const TEN = 10 * 2 ** 24;

/**
 * A /20 of 10.0.0.0/8 that overlaps nothing in `taken` (addresses and blocks; other texts are ignored). The
 * same seed prefers the same place, so that two installations seldom want one. Throws when all is taken.
 */
export function pickSubnet(seed: string, taken: readonly string[]): string {
  const blocks = taken.map(blockOf).filter((block) => block !== null);
  const start = Number.parseInt(shortHash(seed), 16);
  for (let step = 0; step < CHOICES; step += 1) {
    const first = TEN + ((start + step) % CHOICES) * SIZE;
    const block = { first, last: first + SIZE - 1 };
    if (!blocks.some((each) => overlap(each, block))) return `${textOf(first)}/20`;
  }
  throw new Error('no free subnet is left in 10.0.0.0/8');
}

/** The first usable address of a block: the gateway. */
export function gatewayOf(subnet: string): string {
  const block = blockOf(subnet);
  if (block === null) throw new Error(`not a subnet: ${subnet}`);
  return textOf(block.first + 1);
}

const textOf = (address: number): string =>
  [24, 16, 8, 0].map((bits) => Math.floor(address / 2 ** bits) % 256).join('.');
