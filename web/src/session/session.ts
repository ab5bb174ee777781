import { signal } from '@preact/signals';
import { BerthError, hasStatus } from '../api/errors.ts';
import { type RequestOptions, request, requesterWith } from '../api/request.ts';
import type { SignedIn, User } from '../api/types.ts';
import { storageWorks, store, stored } from '../lib/browser/storage.ts';
import { acrossTabs, singleFlight } from '../lib/single-flight.ts';
import { usableForMs } from './login-token-life.ts';

export type SessionState =
  | { readonly kind: 'restoring' }
  | { readonly kind: 'unreachable' }
  /** `ended`: the service's reason; null for a user who signed out here or was not signed in. */
  | { readonly kind: 'signed_out'; readonly ended: string | null }
  | { readonly kind: 'signed_in'; readonly user: User };

/** Who is signed in. The login token itself stays in this module's memory. */
export const session = signal<SessionState>({ kind: 'restoring' });

/** Where to sign out of the OpenID provider, too, after a sign-out here; null without a session there. */
export const stillAtProvider = signal<string | null>(null);

type LoggedOut = { readonly provider_sign_out_url: string | null };
type CurrentLogin = { readonly login: SignedIn; readonly renewAtMs: number };
type Message =
  | { readonly type: 'signed_in'; readonly login: SignedIn }
  | { readonly type: 'signed_out'; readonly ended: string | null }
  | { readonly type: 'locked' }
  | { readonly type: 'unlocked' };

/** Whether the screen is locked: the service answers nothing until it is unlocked. */
export const locked = signal(false);

/** Whether it is worth asking for a session at the start; the cookie that decides cannot be seen from here. */
const HINT = 'signed_in';
let current: CurrentLogin | null = null;
const tabs = new BroadcastChannel('berth.session');

function keep(login: SignedIn): void {
  current = { login, renewAtMs: performance.now() + usableForMs(login.expires_at, Date.now()) };
  session.value = { kind: 'signed_in', user: login.user };
  stillAtProvider.value = null;
  store(HINT, 'yes');
}

function forget(ended: string | null): void {
  current = null;
  locked.value = false;
  session.value = { kind: 'signed_out', ended };
  store(HINT, 'no');
}

const broadcast = (message: Message): void => tabs.postMessage(message);

tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (data.type === 'signed_in') keep(data.login);
  else if (data.type === 'signed_out') forget(data.ended);
  else locked.value = data.type === 'locked';
});

export function signedIn(login: SignedIn): void {
  keep(login);
  broadcast({ type: 'signed_in', login });
}

/** The signed-in user's profile has changed. */
export function userChanged(user: User): void {
  if (current === null) return;
  signedIn({ ...current.login, user });
}

const goodToken = (): string | null =>
  current !== null && performance.now() < current.renewAtMs ? current.login.token : null;

async function rotate(): Promise<void> {
  // why: another tab may have renewed, and handed its token over, while this one waited for its turn
  if (goodToken() !== null) return;
  try {
    signedIn(await request<SignedIn>('/api/auth/refresh', { method: 'POST' }));
  } catch (failure) {
    if (!(failure instanceof BerthError && failure.status === 401)) throw failure;
    const ended = failure.reason;
    forget(ended);
    // why: it saves other tabs of this session a request that would fail the same way
    if (ended !== null) broadcast({ type: 'signed_out', ended });
  }
}

const renew = singleFlight(() => acrossTabs('berth.refresh', rotate));

/** A login token good for at least a minute; null when signed out. Throws while Berth is unreachable. */
export async function loginToken(): Promise<string | null> {
  if (session.value.kind === 'signed_out') return null;
  const token = goodToken();
  if (token !== null) return token;
  await renew();
  return goodToken();
}

/** Another token than `refused`, or null when the session is over. */
async function tokenInsteadOf(refused: string): Promise<string | null> {
  if (current?.login.token === refused) current = { ...current, renewAtMs: 0 };
  return await loginToken();
}

/** Whether there may be a session: if storage works, the hint in it decides. */
const mayBeSignedIn = (likely: boolean): boolean =>
  (stored(HINT) ?? (likely && !storageWorks() ? 'yes' : 'no')) === 'yes';

/**
 * Signs in again from the refresh cookie, as after a reload; keeps trying while Berth is unreachable. `likely`:
 * what to assume where this browser remembers nothing.
 */
export async function restore(likely: boolean): Promise<void> {
  if (!mayBeSignedIn(likely)) {
    forget(null);
    return;
  }
  try {
    await loginToken();
  } catch {
    session.value = { kind: 'unreachable' };
    setTimeout(() => void restore(true), 3_000);
  }
}

let unlocks = 0;

function lockScreen(isLocked: boolean): void {
  if (locked.value === isLocked) return;
  locked.value = isLocked;
  broadcast({ type: isLocked ? 'locked' : 'unlocked' });
}

const unlocked = (): Promise<void> =>
  new Promise((resolve) => {
    const stop = locked.subscribe((isLocked) => {
      if (!isLocked) queueMicrotask(() => stop());
      if (!isLocked) resolve();
    });
  });

export async function lockNow(): Promise<void> {
  await authorized('/api/sessions/lock', { method: 'POST' });
  lockScreen(true);
}

/** Throws a {@link BerthError}: the passcode may be wrong, and the fifth wrong one ends the session. */
export async function unlock(passcode: string): Promise<void> {
  try {
    await withToken('/api/sessions/unlock', { method: 'POST', body: { passcode } });
  } catch (failure) {
    // why: after the last wrong passcode there is no session any more, and this notices
    if (hasStatus(failure, 403)) await withToken('/api/me', {}).catch(() => {});
    throw failure;
  }
  unlocks += 1;
  lockScreen(false);
}

/** Does the work of the signed-in user. While the screen is locked, it waits. */
async function whileUnlocked<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    if (locked.value) await unlocked();
    const asked = unlocks;
    try {
      return await work();
    } catch (failure) {
      if (!(failure instanceof BerthError && failure.code === 'session_locked')) throw failure;
      // why: a refusal from before an unlock must not lock the screen again
      if (asked === unlocks) lockScreen(true);
    }
  }
}

/** A request of the signed-in user. While the screen is locked, it waits. */
export const authorized = <T>(path: string, options: RequestOptions = {}): Promise<T> =>
  whileUnlocked(() => withToken<T>(path, options));

/** The same for what is sent in another way, and again by a renewed token when the first is refused. */
export const authorizedBy = <T>(send: (token: string) => Promise<T>): Promise<T> =>
  whileUnlocked(async () => {
    const token = await tokenOfUser();
    try {
      return await send(token);
    } catch (failure) {
      const renewed = hasStatus(failure, 401) ? await tokenInsteadOf(token) : null;
      if (renewed === null || renewed === token) throw failure;
      return await send(renewed);
    }
  });

async function tokenOfUser(): Promise<string> {
  const token = await loginToken();
  if (token === null) throw new BerthError(401, 'unauthorized', 'unauthorized');
  return token;
}

/** Renews the token once when it is refused. */
const signedInUser = requesterWith(async (refused) =>
  refused === undefined ? await tokenOfUser() : await tokenInsteadOf(refused),
);

const withToken = <T>(path: string, options: RequestOptions): Promise<T> =>
  request<T>(path, options, signedInUser);

/** Ends the session everywhere; this browser forgets it even when Berth does not answer. */
export async function signOut(): Promise<void> {
  try {
    const token = await loginToken();
    if (token === null) return;
    const answer = await request<LoggedOut>('/api/auth/logout', { method: 'POST', token, timeoutMs: 5_000 });
    stillAtProvider.value = answer.provider_sign_out_url;
  } finally {
    forget(null);
    broadcast({ type: 'signed_out', ended: null });
  }
}

/** Renews the token early while the page is visible, so that no click waits for it. */
export function startRenewing(): void {
  setInterval(() => {
    if (document.visibilityState === 'visible' && current !== null) loginToken().catch(() => {});
  }, 30_000);
}
