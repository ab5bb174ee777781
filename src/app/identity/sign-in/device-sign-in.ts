import { randomBytes } from 'node:crypto';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import {
  APPROVAL_SECONDS,
  DEVICE_SIGN_IN_MINUTES,
  DEVICE_SIGN_INS_PER_MINUTE,
  type DeviceDecision,
  type DeviceSignIn,
  decidePoll,
  MAX_DEVICE_SIGN_INS,
  MAX_DEVICE_SIGN_INS_OF_ADDRESS,
  machineName,
  readUserCode,
  USER_CODE_RANDOM_BYTES,
  userCodeOf,
} from '../../../domain/identity/device-sign-in.ts';
import { isDisabled } from '../../../domain/identity/people/account-end.ts';
import { sessionLocked } from '../../../domain/identity/screen-lock.ts';
import { sessionEnd } from '../../../domain/identity/session.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { SessionWithUser } from '../../../ports/identity/session-repository.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { newSecret, sha256 } from '../auth/secrets.ts';
import type { Proofs, RequireRecentSignIn } from './reauthentication.ts';
import { openSession, type SignedIn } from './sign-in.ts';

/** The only copy of both codes. */
export type StartedDeviceSignIn = {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly expiresAt: Date;
};

export type DeviceSignInDeps = {
  readonly storage: Storage;
  readonly throttle: LoginThrottle;
  readonly confirmed: RequireRecentSignIn;
};

export type DeviceSignIns = ReturnType<typeof deviceSignIns>;

/** Signs a program in by a code that somebody confirms in the browser. */
export const deviceSignIns = (deps: DeviceSignInDeps) => ({
  /** `machine`: the name to show to who confirms. */
  start: (machine: string, origin: RequestOrigin) => start(deps, machine, origin),

  /** Opens the session once the code is approved; until then a refusal says why not. */
  poll: (deviceCode: string, origin: RequestOrigin) => poll(deps, deviceCode, origin),

  /** The undecided sign-in of a code. Wrong codes are counted for the caller and the address. */
  find: (userCode: string, caller: Caller, origin: RequestOrigin) =>
    withCode(deps, userCode, caller, origin, async (_tx, { signIn }) => ok(signIn)),

  /** Approves as the caller, who must be the account's owner, not just the holder of a login token. */
  async approve(userCode: string, caller: Caller, given: Proofs, origin: RequestOrigin): AsyncResult<null> {
    const proven = await deps.confirmed(caller, given, origin);
    if (!proven.ok) return proven;
    if (caller.credential.kind !== 'login') return refuse({ code: 'login_token_required' });
    const { sessionId } = caller.credential;
    return await decide(deps, userCode, caller, origin, {
      kind: 'approved',
      userId: caller.user.id,
      sessionId,
    });
  },

  deny: (userCode: string, caller: Caller, origin: RequestOrigin) =>
    decide(deps, userCode, caller, origin, { kind: 'denied' }),
});

async function start(
  { storage, throttle }: DeviceSignInDeps,
  machine: string,
  origin: RequestOrigin,
): AsyncResult<StartedDeviceSignIn> {
  const admitted = await throttle.consume('device sign-in', origin, DEVICE_SIGN_INS_PER_MINUTE);
  if (!admitted.ok) return admitted;
  const { ofAddress, all } = await storage.repositories.deviceSignIns.count(origin.ipAddress);
  if (ofAddress >= MAX_DEVICE_SIGN_INS_OF_ADDRESS || all >= MAX_DEVICE_SIGN_INS) {
    return refuse({ code: 'rate_limited', retryAfterSeconds: 60 });
  }
  return ok(await insertFresh(storage.repositories, machineName(machine), origin));
}

/** Two waiting sign-ins with one user code are as unlikely as guessing it, so this ends soon. */
async function insertFresh(
  { deviceSignIns: signIns }: Pick<Repositories, 'deviceSignIns'>,
  machine: string,
  origin: RequestOrigin,
): Promise<StartedDeviceSignIn> {
  const deviceCode = newSecret();
  const userCode = userCodeOf(randomBytes(USER_CODE_RANDOM_BYTES));
  const codes = { deviceHash: sha256(deviceCode), userCodeHash: sha256(userCode) };
  const expiresAt = await signIns.insert({ ...codes, machine, origin }, DEVICE_SIGN_IN_MINUTES);
  return expiresAt === null
    ? await insertFresh({ deviceSignIns: signIns }, machine, origin)
    : { deviceCode, userCode, expiresAt };
}

async function poll(
  { storage }: DeviceSignInDeps,
  deviceCode: string,
  origin: RequestOrigin,
): AsyncResult<SignedIn> {
  const hash = sha256(deviceCode);
  const asked = await storage.inTransaction((tx) => decisionOf(tx, hash));
  if (!asked.ok) return asked;
  return await storage.inTransaction((tx) => openApproved(tx, hash, asked.value, origin));
}

type Approved = Extract<DeviceDecision, { readonly kind: 'approved' }>;

async function decisionOf({ deviceSignIns }: Repositories, hash: Buffer): AsyncResult<Approved> {
  const found = await deviceSignIns.lock(hash);
  if (found === null) return refuse({ code: 'expired_token' });
  const decided = decidePoll(found.signIn, found.now);
  switch (decided.kind) {
    case 'too_fast':
      return refuse({ code: 'slow_down', retryAfterSeconds: decided.retryAfterSeconds });
    case 'wait':
      await deviceSignIns.polled(hash);
      return refuse({ code: 'authorization_pending' });
    case 'denied':
      await deviceSignIns.remove(hash);
      return refuse({ code: 'access_denied' });
    case 'approved':
      return ok(decided);
  }
}

/** Locks the user first, as a reset does: it ends the approving session, and no session may open behind it. */
async function openApproved(
  tx: Repositories,
  hash: Buffer,
  { userId, sessionId }: Approved,
  origin: RequestOrigin,
): AsyncResult<SignedIn> {
  await tx.users.lock(userId);
  // Another poll may have fetched it.
  if ((await tx.deviceSignIns.lock(hash)) === null) return refuse({ code: 'expired_token' });
  await tx.deviceSignIns.remove(hash);
  const approving = await stillApprovedBy(tx, sessionId);
  if (approving === null) return refuse({ code: 'access_denied' });
  const { user, session } = approving;
  // A sign-out at the provider ends the sessions of programs, too.
  const provider = await tx.providerSessions.find(sessionId);
  return ok(await openSession(tx, user, origin, provider, { barredUntil: session.barredUntil }));
}

/** The approving session, unless it was locked, or it or the account has ended since. */
async function stillApprovedBy(tx: Repositories, sessionId: string): Promise<SessionWithUser | null> {
  const found = await tx.sessions.findWithUser(sessionId);
  if (found === null || isDisabled(found.user, found.now)) return null;
  const { session, lock, now, idleMinutes } = found;
  if (sessionLocked(lock, session.lastSeenAt, now)) return null;
  return sessionEnd(session, now, idleMinutes) === null ? found : null;
}

type Found = { readonly signIn: DeviceSignIn; readonly hash: Buffer };

/** Runs `then` with the sign-in of a code, in one transaction with the count of wrong codes. */
async function withCode<T>(
  { storage, throttle }: DeviceSignInDeps,
  typed: string,
  { user }: Caller,
  origin: RequestOrigin,
  then: (tx: Repositories, found: Found) => AsyncResult<T>,
): AsyncResult<T> {
  const userCode = readUserCode(typed);
  return await storage.inTransaction(async (tx) => {
    const hash = sha256(userCode ?? typed);
    const find = async () => (userCode === null ? null : await tx.deviceSignIns.findUndecided(hash));
    const signIn = await throttle.tryShared(tx, 'device_code', user.id, origin, find);
    if (!signIn.ok) return signIn;
    if (signIn.value === null) return refuse({ code: 'device_code_not_found' });
    return await then(tx, { signIn: signIn.value, hash });
  });
}

const decide = (
  deps: DeviceSignInDeps,
  typed: string,
  caller: Caller,
  origin: RequestOrigin,
  decision: DeviceDecision,
): AsyncResult<null> =>
  withCode(deps, typed, caller, origin, async (tx, { signIn, hash }) => {
    const decided = await tx.deviceSignIns.decide(hash, decision, APPROVAL_SECONDS);
    if (!decided) return refuse({ code: 'device_code_not_found' });
    const details = `${signIn.machine}, ${signIn.origin.ipAddress}`;
    const action = decision.kind === 'approved' ? 'device_sign_in_approved' : 'device_sign_in_denied';
    await tx.audit.append({ userId: caller.user.id, action, ...origin, details });
    return ok(null);
  });
