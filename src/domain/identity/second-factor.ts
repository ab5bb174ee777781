/**
 * A user's second factor. It is on once a code has confirmed the secret:
 *
 *   off --enrol--> pending --confirm with a code--> on --disable with a code--> off
 *                     '--enrol again (a new secret)--> pending
 */
export type TotpFactor = {
  /** Encrypted; the database never has the secret itself. */
  readonly sealedSecret: Buffer;
  readonly confirmedAt: Date | null;
  /** The last time step whose code was accepted; none up to it is accepted again. */
  readonly lastStep: number;
};

export const TOTP = { stepSeconds: 30, digits: 6, window: 1, secretBytes: 20 } as const;

/** The ways to complete a pending sign-in. */
export type SecondFactorMethod = 'totp' | 'recovery_code' | 'passkey';

/** Life of a pending sign-in, and of a passkey challenge. */
export const WAITING_MINUTES = 5;
/** Wrong tries that end a pending sign-in. */
export const WAITING_TRIES = 10;

export const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;
// Without 0, 1, l and o, which are easily confused.
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
export const RECOVERY_RANDOM_BYTES = RECOVERY_CODES * RECOVERY_BYTES;

/** Ten codes of 80 bits, in groups of four. */
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

/** Reads what a person typed: six digits, or a recovery code, with any spaces, hyphens and capitals. Else null. */
export function readCode(typed: string): TypedCode | null {
  const code = typed.replace(/[\s-]/g, '').toLowerCase();
  if (/^[0-9]{6}$/.test(code)) return { kind: 'totp', code };
  return /^[a-km-np-z2-9]{16}$/.test(code) ? { kind: 'recovery', code } : null;
}
