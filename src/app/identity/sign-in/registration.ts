import { TIER_OF } from '../../../domain/containers/catalogue.ts';
import type { DomainError } from '../../../domain/errors.ts';
import type { Origin } from '../../../domain/identity/caller.ts';
import { comparable } from '../../../domain/identity/confusable-names.ts';
import { type NewPerson, personFaults, type UserRole } from '../../../domain/identity/user.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { PasswordHasher } from '../../../ports/identity/password-hasher.ts';
import type { Storage } from '../../../ports/storage.ts';
import { orRollBack } from '../../transaction.ts';
import type { Guard } from '../auth/login-throttle.ts';
import { newSecret, sha256 } from '../auth/secrets.ts';
import { type Hashing, unasked } from '../limits/hashing-queue.ts';
import { openSession, type SignedIn } from './sign-in.ts';

/** Registrations that one address may try in a minute: each costs a password hash, and may ask for taken names. */
const REGISTRATIONS_A_MINUTE = 60;
/** Set-up codes that one address may ask about in a minute. */
const CODE_CHECKS_A_MINUTE = 20;

/** What somebody who is not signed in may do next. */
export type SignInOptions = {
  readonly setupRequired: boolean;
  readonly openRegistration: boolean;
  readonly guestsEnabled: boolean;
};

export type Accounts = ReturnType<typeof accounts>;

export type AccountDeps = {
  readonly storage: Storage;
  readonly hasher: PasswordHasher;
  readonly hashing: Hashing;
  readonly guard: Guard;
};

export function accounts({ storage, hasher, hashing, guard }: AccountDeps) {
  const { repositories, inTransaction } = storage;

  async function add(
    person: NewPerson,
    role: UserRole,
    origin: Origin,
    setupCode: string | null,
  ): Promise<Result<SignedIn, DomainError>> {
    const email = comparable(person.email);
    const { username } = person;
    const fields = personFaults({ ...person, email });
    if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
    const { ipAddress } = origin;
    const hashed = await hashing.inTurn({ ipAddress }, unasked, (one) => one.hash(person.password));
    if (!hashed.ok) return hashed;
    const passwordHash = hashed.value;
    return await orRollBack(inTransaction, async (tx) => {
      if (setupCode !== null && !(await tx.installation.spendSetupCode(sha256(setupCode)))) {
        return refuse({ code: 'setup_code_rejected' });
      }
      const made = await tx.users.insert({
        email,
        username,
        passwordHash,
        role,
        tier: TIER_OF[role],
        guestUntil: null,
      });
      if ('taken' in made)
        return refuse({ code: 'validation_failed', fields: { [made.taken]: 'is already in use' } });
      return ok(await openSession(tx, made.user, origin));
    });
  }

  return {
    async options(): Promise<SignInOptions> {
      const { openRegistration, guestsEnabled } = await repositories.settings.read();
      const setupRequired = await repositories.installation.setupRequired();
      return { setupRequired, openRegistration, guestsEnabled };
    },

    /** Whether set-up takes this code, asked before somebody fills in a form for it. Uses nothing up. */
    async checkSetupCode(code: string, origin: Origin): Promise<Result<null, DomainError>> {
      if (!(await repositories.installation.setupRequired())) return refuse({ code: 'setup_done' });
      const taken = await guard.take('setup code', origin, CODE_CHECKS_A_MINUTE);
      if (!taken.ok) return taken;
      const known = await repositories.installation.isSetupCode(sha256(code));
      return known ? ok(null) : refuse({ code: 'setup_code_rejected' });
    },

    /** The first administrator, by the code that was printed at start. Works once. */
    async setUp(code: string, person: NewPerson, origin: Origin): Promise<Result<SignedIn, DomainError>> {
      if (!(await repositories.installation.setupRequired())) return refuse({ code: 'setup_done' });
      return await add(person, 'admin', origin, code);
    },

    async register(person: NewPerson, origin: Origin): Promise<Result<SignedIn, DomainError>> {
      const { openRegistration } = await repositories.settings.read();
      if (!openRegistration) return refuse({ code: 'registration_closed' });
      const taken = await guard.take('registration', origin, REGISTRATIONS_A_MINUTE);
      return taken.ok ? await add(person, 'user', origin, null) : taken;
    },

    /** A new one-time set-up code, or null when there is an administrator already. Earlier codes end. */
    async newSetupCode(): Promise<string | null> {
      if (!(await repositories.installation.setupRequired())) return null;
      const code = newSecret();
      await repositories.installation.setSetupCodeHash(sha256(code));
      return code;
    },

    /** Makes the first administrator from the settings of the environment; does nothing when there is one. */
    async ensureAdmin(email: string, password: string): Promise<void> {
      if (!(await repositories.installation.setupRequired())) return;
      const passwordHash = await hasher.hash(password);
      const username = email.split('@', 1)[0]?.replace(/[^a-zA-Z0-9._-]/g, '-') || 'admin';
      await repositories.users.insert({
        email,
        username,
        passwordHash,
        role: 'admin',
        tier: TIER_OF.admin,
        guestUntil: null,
      });
    },
  };
}
