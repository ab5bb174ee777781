import { TIER_OF } from '../../../domain/containers/catalogue.ts';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import { comparable } from '../../../domain/identity/confusable-names.ts';
import {
  type NewPerson,
  namesOf,
  passwordFaults,
  personFaults,
  type UserRole,
} from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { PasswordHasher } from '../../../ports/identity/password-hasher.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { orRollBack } from '../../transaction.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { newSecret, sha256 } from '../auth/secrets.ts';
import { type Hashing, unasked } from '../limits/hashing-queue.ts';
import { makeAccount } from '../people/new-account.ts';
import { openSession, type SignedIn } from './sign-in.ts';

/** Each costs a password hash and may test for taken names. */
const REGISTRATIONS_A_MINUTE = 60;
const CODE_CHECKS_A_MINUTE = 20;

export type SignInOptions = {
  readonly setupRequired: boolean;
  readonly openRegistration: boolean;
  readonly guestsEnabled: boolean;
};

export type Registration = ReturnType<typeof registration>;

export type RegistrationDeps = {
  readonly storage: Storage;
  readonly hasher: PasswordHasher;
  readonly hashing: Hashing;
  readonly throttle: LoginThrottle;
};

export const registration = (deps: RegistrationDeps) => ({
  options: () => options(deps),

  /** Whether the set-up code is valid, checked before its form is filled in. Does not use it up. */
  checkSetupCode: (code: string, origin: RequestOrigin) => checkSetupCode(deps, code, origin),

  /** Creates the first administrator, with the code printed at start. Works once. */
  setUp: (code: string, person: NewPerson, origin: RequestOrigin) => setUp(deps, code, person, origin),

  register: (person: NewPerson, origin: RequestOrigin) => register(deps, person, origin),

  /** A new one-time set-up code, or null when there is an administrator. Earlier codes end. */
  newSetupCode: () => newSetupCode(deps),

  /** Creates the first administrator from the environment; does nothing when there is one. */
  ensureAdmin: (email: string, password: string) => ensureAdmin(deps, email, password),
});

async function options({ storage: { repositories } }: RegistrationDeps): Promise<SignInOptions> {
  const { openRegistration, guestsEnabled } = await repositories.settings.read();
  const setupRequired = await repositories.installation.setupRequired();
  return { setupRequired, openRegistration, guestsEnabled };
}

async function checkSetupCode(
  { storage, throttle }: RegistrationDeps,
  code: string,
  origin: RequestOrigin,
): AsyncResult<null> {
  const { installation } = storage.repositories;
  if (!(await installation.setupRequired())) return refuse({ code: 'setup_done' });
  const taken = await throttle.consume('setup code', origin, CODE_CHECKS_A_MINUTE);
  if (!taken.ok) return taken;
  const known = await installation.isSetupCode(sha256(code));
  return known ? ok(null) : refuse({ code: 'setup_code_rejected' });
}

async function setUp(
  deps: RegistrationDeps,
  setupCode: string,
  person: NewPerson,
  origin: RequestOrigin,
): AsyncResult<SignedIn> {
  const { installation } = deps.storage.repositories;
  if (!(await installation.setupRequired())) return refuse({ code: 'setup_done' });
  return await add(deps, person, { role: 'admin', setupCode }, origin);
}

async function register(
  deps: RegistrationDeps,
  person: NewPerson,
  origin: RequestOrigin,
): AsyncResult<SignedIn> {
  const { openRegistration } = await deps.storage.repositories.settings.read();
  if (!openRegistration) return refuse({ code: 'registration_closed' });
  const taken = await deps.throttle.consume('registration', origin, REGISTRATIONS_A_MINUTE);
  return taken.ok ? await add(deps, person, { role: 'user', setupCode: null }, origin) : taken;
}

async function newSetupCode({ storage }: RegistrationDeps): Promise<string | null> {
  const { installation } = storage.repositories;
  if (!(await installation.setupRequired())) return null;
  const code = newSecret();
  await installation.setSetupCodeHash(sha256(code));
  return code;
}

async function ensureAdmin(
  { storage, hasher }: RegistrationDeps,
  email: string,
  password: string,
): Promise<void> {
  const { installation, users } = storage.repositories;
  if (!(await installation.setupRequired())) return;
  const username = email.split('@', 1)[0]?.replace(/[^a-zA-Z0-9._-]/g, '-') || 'admin';
  const { password: fault } = passwordFaults(password, namesOf({ username, email }));
  if (fault !== undefined) throw new Error(`BERTH_ADMIN_PASSWORD ${fault}`);
  const passwordHash = await hasher.hash(password);
  await users.insert({
    email,
    username,
    passwordHash,
    role: 'admin',
    tier: TIER_OF.admin,
    guestUntil: null,
    endsAt: null,
  });
}

type NewAccount = {
  readonly role: UserRole;
  /** Used up by the registration; null where none is needed. */
  readonly setupCode: string | null;
};

async function add(
  { storage, hashing }: RegistrationDeps,
  person: NewPerson,
  { role, setupCode }: NewAccount,
  origin: RequestOrigin,
): AsyncResult<SignedIn> {
  const email = comparable(person.email);
  const { username } = person;
  const fields = personFaults({ ...person, email });
  if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
  const { ipAddress } = origin;
  const hashed = await hashing.inTurn({ ipAddress }, unasked, (one) => one.hash(person.password));
  if (!hashed.ok) return hashed;
  const user = { email, username, passwordHash: hashed.value, role, tier: TIER_OF[role], endsAt: null };
  return await orRollBack(storage.inTransaction, async (tx) => {
    if (setupCode !== null && !(await tx.installation.spendSetupCode(sha256(setupCode)))) {
      return refuse({ code: 'setup_code_rejected' });
    }
    const made = await makeAccount(tx, user);
    return made.ok ? ok(await openSession(tx, made.value, origin)) : made;
  });
}
