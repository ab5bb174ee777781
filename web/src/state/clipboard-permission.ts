import { signal } from '@preact/signals';
import { store, stored } from '../lib/browser/storage.ts';
import { session } from '../session/session.ts';

const key = (): string =>
  `programs_may_copy.${session.value.kind === 'signed_in' ? session.value.user.id : 'nobody'}`;

/** Choices since the page was opened, by user: storage may be forbidden. */
const changed = signal<Readonly<Record<string, boolean>>>({});

/** Whether programs may put text into the clipboard unasked: what this user chose in this browser. */
export const programsMayCopy = (): boolean => changed.value[key()] ?? stored(key()) === 'yes';

export function letProgramsCopy(allowed: boolean): void {
  changed.value = { ...changed.value, [key()]: allowed };
  store(key(), allowed ? 'yes' : 'no');
}
