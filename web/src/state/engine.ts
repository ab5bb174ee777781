import { signal } from '@preact/signals';
import { getEngine } from '../api/containers/containers.ts';
import type { Engine } from '../api/types.ts';
import { onNotices } from '../lib/browser/network-notices.ts';
import { singleFlight } from '../lib/single-flight.ts';

const known = signal<Engine | null>(null);

const load = singleFlight(async () => {
  // why: without an answer everything is offered, and the service refuses what it cannot
  known.value = await getEngine().catch(() => known.value);
});

/** Asks what the engine of this service does, again whenever the page is visible again, until the returned function is called. */
export function followEngine(): () => void {
  void load();
  return onNotices({ wake: () => void load() });
}

export const engineDoes = (what: keyof Engine): boolean => known.value?.[what] ?? true;
