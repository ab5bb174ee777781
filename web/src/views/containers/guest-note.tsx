import { now } from '../../lib/clock.ts';
import { at, within } from '../../lib/format/format.ts';
import { me } from '../../state/profile.ts';

/** Says to a guest when the access ends; nothing to others. */
export function GuestNote() {
  const until = me.value?.guest_until ?? null;
  if (until === null) return null;
  const isOver = Date.parse(until) <= now.value.getTime();
  return (
    <p class="note" title={at(until)}>
      {isOver
        ? 'Your guest access has ended. You can still view and delete your containers.'
        : `You are a guest. Your access ends ${within(until, now.value)}; after that you can only view and delete your containers.`}
    </p>
  );
}
