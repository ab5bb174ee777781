/**
 * The second factor. It is on from the moment that a first code confirmed the secret:
 *
 *   off --enrol--> pending --confirm with a code--> on --disable with a code--> off
 *                     '--enrol again (a new secret)--> pending
 */
export type TotpFactor = {
  /** Encrypted; the database never holds the secret itself. */
  readonly sealedSecret: Buffer;
  readonly confirmedAt: Date | null;
  /** The latest step of time whose code was accepted; none up to it is ever accepted again. */
  readonly lastStep: number;
};

export const TOTP = { stepSeconds: 30, digits: 6, window: 1, secretBytes: 20 } as const;

/** How a sign-in that waits for its second factor may go on. */
export type SecondFactorMethod = 'totp' | 'recovery_code' | 'passkey';

/** Life of a sign-in that waits for its second factor, and of a challenge for a passkey. */
export const WAITING_MINUTES = 5;
/** Wrong tries that end a waiting sign-in. */
export const WAITING_TRIES = 10;

export const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;
// Without 0, 1, l and o, which are read wrong.
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
export const RECOVERY_RANDOM_BYTES = RECOVERY_CODES * RECOVERY_BYTES;

/** Ten codes of 80 bits each, written in groups of four. */
export function recoveryCodes(random: Buffer): readonly string[] {
  if (random.length !== RECOVERY_RANDOM_BYTES) throw new Error('recovery codes need their random bytes');
  return Array.from({ length: RECOVERY_CODES }, (_, index) => {
    const bytes = random.subarray(index * RECOVERY_BYTES, (index + 1) * RECOVERY_BYTES);
    const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
    const letters = bits.match(/.{5}/g) ?? [];
    const text = letters.map((five) => ALPHABET[Number.parseInt(five, 2)]).join('');
    return text.match(/.{4}/g)?.join('-') ?? text;
  });
}

export type TypedCode =
  | { readonly kind: 'totp'; readonly code: string }
  | { readonly kind: 'recovery'; readonly code: string };

/** What a person typed: six digits, or a recovery code, with spaces, hyphens and capitals as they like. Else null. */
export function readCode(typed: string): TypedCode | null {
  const code = typed.replace(/[\s-]/g, '').toLowerCase();
  if (/^[0-9]{6}$/.test(code)) return { kind: 'totp', code };
  return /^[a-km-np-z2-9]{16}$/.test(code) ? { kind: 'recovery', code } : null;
}
