/**
 * Characters with a width in every C library since Unicode 9. tmux drops those without a width in its own: unassigned
 * ones, and control characters beyond ASCII. Missing ones only take more time to send.
 */
const KNOWN: readonly (readonly [first: number, last: number])[] = [
  [0xa0, 0x377],
  [0x391, 0x3a1],
  [0x3a3, 0x52f],
  [0x5d0, 0x5ea],
  [0x620, 0x6ff],
  [0x904, 0x939],
  [0xe01, 0xe3a],
  [0xe40, 0xe5b],
  [0x1e00, 0x1eff],
  [0x2010, 0x2027],
  [0x2030, 0x205e],
  [0x20a0, 0x20bd],
  [0x2100, 0x218b],
  [0x2190, 0x23fa],
  [0x2460, 0x2b73],
  [0x3000, 0x303f],
  [0x3041, 0x3096],
  [0x3099, 0x30ff],
  [0x3105, 0x312d],
  [0x3131, 0x318e],
  [0x4e00, 0x9fd5],
  [0xac00, 0xd7a3],
  [0xff01, 0xff60],
  [0x1f300, 0x1f6d0],
  [0x20000, 0x2a6d6],
];

/** Whether tmux passes this character on as a key, in whatever image. */
export function isKnownToTmux(codePoint: number): boolean {
  for (const [first, last] of KNOWN) if (codePoint <= last) return codePoint >= first;
  return false;
}
