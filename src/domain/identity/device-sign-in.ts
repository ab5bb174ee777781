import type { RequestOrigin } from './caller.ts';

/**
 * A sign-in of a program that has no browser, as in RFC 8628. The program shows a short code; a signed-in user
 * confirms it:
 *
 *   waiting --approve--> approved --poll--> a session, and the sign-in is gone
 *      |                    |
 *      +--deny--> denied    +--a minute passes--> expired
 *      +--ten minutes pass--> expired
 */
export type DeviceSignIn = {
  /** The machine's name, in its own words. */
  readonly machine: string;
  /** Of the program. */
  readonly origin: RequestOrigin;
  readonly startedAt: Date;
  readonly expiresAt: Date;
  readonly polledAt: Date | null;
  readonly decision: DeviceDecision | null;
};

export type DeviceDecision =
  /** `sessionId`: the session that approved. Its end takes the approval back. */
  | { readonly kind: 'approved'; readonly userId: string; readonly sessionId: string }
  | { readonly kind: 'denied' };

export const DEVICE_SIGN_IN_MINUTES = 10;
/** A stolen approval is of little use if it must be fetched at once. */
export const APPROVAL_SECONDS = 60;
export const POLL_SECONDS = 2;

/** Waiting sign-ins: of one address, and of everybody. */
export const MAX_DEVICE_SIGN_INS_OF_ADDRESS = 20;
export const MAX_DEVICE_SIGN_INS = 10_000;
/** New ones a minute, of one address. */
export const DEVICE_SIGN_INS_PER_MINUTE = 10;

const MAX_MACHINE = 64;

/** RFC 8628 advises these: no vowels that make words, no letters that look alike. */
const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const USER_CODE_LENGTH = 8;
/** Bytes below this divide evenly among the letters. */
const FAIR_BYTES = 256 - (256 % USER_CODE_LETTERS.length);
/** Enough for eight fair ones, but for one try in 10^18. */
export const USER_CODE_RANDOM_BYTES = 40;

/** A code to read aloud, about 34 bits: `BCDF-GHJK`. */
export function userCodeOf(random: Uint8Array): string {
  const fair = [...random].filter((byte) => byte < FAIR_BYTES).slice(0, USER_CODE_LENGTH);
  if (fair.length < USER_CODE_LENGTH) throw new RangeError('not enough random bytes for a user code');
  const letters = fair.map((byte) => USER_CODE_LETTERS[byte % USER_CODE_LETTERS.length]).join('');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** The code as it was typed, in its one spelling; null for what can be no code. */
export function readUserCode(typed: string): string | null {
  const letters = typed.toUpperCase().replace(/[\s-]/g, '');
  const valid =
    letters.length === USER_CODE_LENGTH && [...letters].every((at) => USER_CODE_LETTERS.includes(at));
  return valid ? `${letters.slice(0, 4)}-${letters.slice(4)}` : null;
}

/** Without control characters, and never empty. */
export const machineName = (given: string): string =>
  given.replace(/\p{C}/gu, '').trim().slice(0, MAX_MACHINE) || 'unnamed machine';

export type PollDecision =
  | { readonly kind: 'wait' }
  | { readonly kind: 'too_fast'; readonly retryAfterSeconds: number }
  | { readonly kind: 'denied' }
  | { readonly kind: 'approved'; readonly userId: string; readonly sessionId: string };

/** What the program is answered. The first poll may come at once; `now` is the database's clock. */
export function decidePoll({ decision, polledAt }: DeviceSignIn, now: Date): PollDecision {
  const sinceMs = polledAt === null ? Number.POSITIVE_INFINITY : now.getTime() - polledAt.getTime();
  if (sinceMs < POLL_SECONDS * 1000) return { kind: 'too_fast', retryAfterSeconds: POLL_SECONDS };
  return decision ?? { kind: 'wait' };
}
