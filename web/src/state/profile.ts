import { signal } from '@preact/signals';
import { getMe } from '../api/identity/account.ts';
import type { Me } from '../api/types.ts';

/** The profile of the signed-in user; null until it has come. */
export const me = signal<Me | null>(null);

/** Throws a BerthError; the profile stays as it was then. */
export async function loadMe(): Promise<void> {
  me.value = await getMe();
}
