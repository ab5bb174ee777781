import { BerthError } from '../../../api/errors.ts';
import type { ManagedUser } from '../../../api/types.ts';
import { minuteInput } from '../../../lib/format/minute-input.ts';

/** The choice in a form. `day`: as a date field has it, by the reader's clock; empty while it is incomplete. */
export type EndChoice = { readonly kind: 'never' | 'day'; readonly day: string };

export const NO_END: EndChoice = { kind: 'never', day: '' };

/** A day less than the service's limit, which the end of the last day is then within. */
const MAX_DAYS = 3_652;

const dayOf = (iso: string): string => minuteInput(iso).slice(0, 10);

/** The end of an account, to be changed: its present day, or a day that is still to be entered. */
export const endToChange = (endsAt: string | null): EndChoice => ({
  kind: 'day',
  day: endsAt === null ? '' : dayOf(endsAt),
});

/** The first and the last day that can be chosen. */
export function endDays(now: Date): { readonly min: string; readonly max: string } {
  const last = new Date(now);
  last.setDate(last.getDate() + MAX_DAYS);
  return { min: dayOf(now.toISOString()), max: dayOf(last.toISOString()) };
}

function faultOf(day: string, now: Date): string | null {
  const { min, max } = endDays(now);
  if (day === '') return 'Enter a complete date, or choose “No end”';
  // why: as texts, years of five digits come before those of four
  if (day.length > max.length || day > max) return 'must be within ten years';
  return day < min ? 'must be today or later' : null;
}

/** The end of the chosen day; null for no end. Throws, as the service would answer, when there is no such day. */
export function chosenEnd({ kind, day }: EndChoice, field: string, now = new Date()): string | null {
  if (kind === 'never') return null;
  const fault = faultOf(day, now);
  if (fault === null) return new Date(`${day}T23:59:59`).toISOString();
  throw new BerthError(400, 'validation_failed', 'invalid request', { fields: { [field]: fault } });
}

/** What the choice changes of an end; null for nothing: the same day keeps its time. Throws as `chosenEnd` does. */
export function endChange(
  before: string | null,
  choice: EndChoice,
  now = new Date(),
): { readonly ends_at: string | null } | null {
  if (choice.kind === 'day' && before !== null && choice.day === dayOf(before)) return null;
  const after = chosenEnd(choice, 'ends_at', now);
  return after === before ? null : { ends_at: after };
}

/** Whether the end of the account has come. */
export const hasEnded = ({ ends_at }: Pick<ManagedUser, 'ends_at'>, now: Date): boolean =>
  ends_at !== null && Date.parse(ends_at) <= now.getTime();

export const FOR_ACCOUNTS = 'Guests have no account';
export const BEING_DELETED = 'The account is being deleted';

type Account = Pick<ManagedUser, 'email' | 'role' | 'being_deleted' | 'disabled_at' | 'ends_at'>;

/** Why the last day of the account cannot be changed; null if it can. */
export function whyNoEnd(user: Account, now: Date): string | null {
  if (user.being_deleted) return BEING_DELETED;
  if (user.email === null) return FOR_ACCOUNTS;
  if (user.role === 'admin') return 'An administrator has none';
  return user.disabled_at !== null && hasEnded(user, now) ? 'It is over. Enable sets a new one' : null;
}
