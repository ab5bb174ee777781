import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';

const { IPv4 } = ipaddr;

/** Eight deterministic hex digits, short enough for interface and chain names. */
export const shortHash = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 8);

type Block = ReturnType<typeof IPv4.parseCIDR>;

/** The addresses of `a.b.c.d/n`; a bare address is a block of one. Null when it is not IPv4. */
export function blockOf(text: string): Block | null {
  const cidr = text.includes('/') ? text : `${text}/32`;
  return IPv4.isValidCIDRFourPartDecimal(cidr) ? IPv4.parseCIDR(cidr) : null;
}

const overlap = ([a, bitsOfA]: Block, [b, bitsOfB]: Block): boolean => a.match(b, Math.min(bitsOfA, bitsOfB));

const blocksOf = (texts: readonly string[]): readonly Block[] =>
  texts.map(blockOf).filter((block) => block !== null);

/** Whether one of the blocks contains the address; only IPv4 matches. */
export function isWithin(address: string, cidrs: readonly string[]): boolean {
  const block = blockOf(address);
  return block !== null && blocksOf(cidrs).some((each) => overlap(block, each));
}

const CHOICES = 4096;

/**
 * A /20 of 10.0.0.0/8 that overlaps nothing in `taken` (addresses and blocks; other text is ignored). The seed
 * determines the first choice, so that installations rarely collide. Throws when all is taken.
 */
export function pickSubnet(seed: string, taken: readonly string[]): string {
  const blocks = blocksOf(taken);
  const start = Number.parseInt(shortHash(seed), 16);
  for (let step = 0; step < CHOICES; step += 1) {
    const choice = (start + step) % CHOICES;
    const address = new IPv4([10, choice >> 4, (choice & 15) << 4, 0]);
    if (!blocks.some((each) => overlap(each, [address, 20]))) return `${address}/20`;
  }
  throw new Error('no free subnet is left in 10.0.0.0/8');
}

/** The first usable address of a block: the gateway. */
export function gatewayOf(subnet: string): string {
  const [a, b, c, d = 0] = IPv4.networkAddressFromCIDR(subnet).octets;
  return `${a}.${b}.${c}.${d + 1}`;
}
