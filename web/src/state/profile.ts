import { signal } from '@preact/signals';
import { waitSecondsOf } from '../api/explain.ts';
import { getMe } from '../api/identity/account.ts';
import type { Me } from '../api/types.ts';
import { session } from '../session/session.ts';

/** The profile of the signed-in user; null until it has come. */
export const me = signal<Me | null>(null);

const RETRY_MS = 3_000;
const tabs = new BroadcastChannel('berth.profile');

const isOfUser = ({ id }: Me): boolean => {
  const now = session.peek();
  return now.kind === 'signed_in' && now.user.id === id;
};

tabs.addEventListener('message', ({ data }: MessageEvent<Me>) => {
  if (isOfUser(data)) me.value = data;
});

/** Shows the profile as the service answered it, in all tabs. */
export function profileChanged(profile: Me): void {
  // why: the user may have signed out while the answer was on its way
  if (!isOfUser(profile)) return;
  const isNew = me.peek() !== null && JSON.stringify(me.peek()) !== JSON.stringify(profile);
  me.value = profile;
  if (isNew) tabs.postMessage(profile);
}

/** Throws a BerthError; the profile stays as it was then. */
export async function loadMe(): Promise<void> {
  const before = me.peek();
  const profile = await getMe();
  // why: a change that was made meanwhile may be missing in the answer
  if (me.peek() !== before) return await loadMe();
  profileChanged(profile);
}

/** Loads the profile, again until it has come. Forgets it when the returned function is called. */
export function followProfile(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const load = async (): Promise<void> => {
    try {
      await loadMe();
    } catch (failure) {
      const waitMs = Math.max(RETRY_MS, (waitSecondsOf(failure) ?? 0) * 1_000);
      if (!isOver) timer = setTimeout(() => void load(), waitMs);
    }
  };
  void load();
  return () => {
    isOver = true;
    clearTimeout(timer);
    me.value = null;
  };
}
