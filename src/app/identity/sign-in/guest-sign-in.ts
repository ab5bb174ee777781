import { randomBytes } from 'node:crypto';
import { TIER_OF } from '../../../domain/containers/catalogue.ts';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import { guestNameFaults } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { orRollBack } from '../../transaction.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { openSession, type SignedIn } from './sign-in.ts';

/** Each guest is a user and may have a container. */
const GUESTS_A_MINUTE = 20;
const HOUR_MS = 3_600_000;

export type GuestDeps = {
  readonly storage: Storage;
  readonly throttle: LoginThrottle;
  readonly clock: Clock;
};

export type Guests = ReturnType<typeof guests>;

/** Users without an account or password: they have only their session, which ends for good. */
export const guests = ({ storage, throttle, clock }: GuestDeps) => ({
  async enter(wanted: string | undefined, origin: RequestOrigin): AsyncResult<SignedIn> {
    const { guestsEnabled, guestLifetimeHours } = await storage.repositories.settings.read();
    if (!guestsEnabled) return refuse({ code: 'guests_disabled' });
    const username = wanted ?? `guest-${randomBytes(5).toString('hex')}`;
    const fields = guestNameFaults(username);
    if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
    const taken = await throttle.consume('guest', origin, GUESTS_A_MINUTE);
    if (!taken.ok) return taken;
    return await orRollBack(storage.inTransaction, async (tx) => {
      const made = await tx.users.insert({
        email: null,
        username,
        passwordHash: null,
        role: 'user',
        tier: TIER_OF.guest,
        endsAt: null,
        guestUntil: new Date(clock.now().getTime() + guestLifetimeHours * HOUR_MS),
      });
      if ('taken' in made) {
        return refuse({ code: 'validation_failed', fields: { [made.taken]: 'is already in use' } });
      }
      return ok(await openSession(tx, made.user, origin));
    });
  },
});
