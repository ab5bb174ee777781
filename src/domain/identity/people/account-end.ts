import type { FieldFaults } from '../../field-faults.ts';

/** null: it has no end. */
export type AccountEnd = { readonly endsAt: Date | null };

const DAY_MS = 86_400_000;
/** The latest end, in days from now: ten years. */
export const MAX_ACCOUNT_DAYS = 3_653;

/** Whether the end of the account has come. `now` is the database's clock. */
export const hasEnded = ({ endsAt }: AccountEnd, now: Date): boolean => endsAt !== null && endsAt <= now;

/** Whether the account is out of use: disabled, or ended and about to be disabled. */
export const isDisabled = (
  { disabledAt, ...account }: AccountEnd & { readonly disabledAt: Date | null },
  now: Date,
): boolean => disabledAt !== null || hasEnded(account, now);

/** What the user of an ended account reads when signing in. */
export function accountEndReason(endsAt: Date): string {
  const time = endsAt.toISOString();
  return `It ended on ${time.slice(0, 10)} at ${time.slice(11, 16)} UTC.`;
}

/** Faults of a new end, which comes after `notBefore`. Administrators have none, since it could remove the last one. */
export function accountEndFaults(endsAt: Date | null, role: 'user' | 'admin', notBefore: Date): FieldFaults {
  if (endsAt === null) return {};
  if (role === 'admin') return { endsAt: 'must be null for an administrator' };
  if (!(endsAt > notBefore)) return { endsAt: `must be after ${notBefore.toISOString()}` };
  return endsAt.getTime() - notBefore.getTime() > MAX_ACCOUNT_DAYS * DAY_MS
    ? { endsAt: 'must be within ten years' }
    : {};
}
