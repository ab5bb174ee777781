import { now } from '../../lib/clock.ts';
import { at, onDay } from '../../lib/format/format.ts';
import { me } from '../../state/profile.ts';

/** How long before its end a user is reminded of it. */
const REMINDED_MS = 14 * 86_400_000;

/** Says that the account is about to end. */
export function EndNote() {
  const ends = me.value?.ends_at ?? null;
  if (ends === null || Date.parse(ends) - now.value.getTime() > REMINDED_MS) return null;
  return (
    <p class="note" title={at(ends)}>
      {`Your account ends on ${onDay(ends)}. Your containers and files are kept then. To keep access, ask an administrator.`}
    </p>
  );
}
