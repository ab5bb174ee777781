import { signal } from '@preact/signals';
import { getHealth, type Health } from '../api/health.ts';
import { loginToken, session } from '../session/session.ts';
import { poll } from './poll.ts';

/** null until it is known. */
export const health = signal<Health | null>(null);

/** Whether containers can be neither made nor started now. */
export const engineIsDown = (): boolean =>
  health.value?.faults.some(({ component }) => component === 'engine') ?? false;

const WELL_MS = 30_000;
const UNWELL_MS = 5_000;

export function followHealth(): () => void {
  const refresh = async (): Promise<void> => {
    try {
      const now = session.value;
      const isAdmin = now.kind === 'signed_in' && now.user.role === 'admin';
      health.value = await getHealth(isAdmin ? await loginToken() : null);
    } catch {
      // why: an unreachable service is shown by what fails because of it
      health.value = null;
    }
  };
  return poll(refresh, () => (health.value?.status === 'ready' ? WELL_MS : UNWELL_MS)).stop;
}
