import { signal } from '@preact/signals';
import { getEngine } from '../api/containers/containers.ts';
import type { Engine } from '../api/types.ts';

const known = signal<Engine | null>(null);

/** Asks once what the engine of this service does. */
export async function loadEngine(): Promise<void> {
  // why: without an answer everything is offered, and the service refuses what it cannot
  if (known.value === null) known.value = await getEngine().catch(() => null);
}

export const engineDoes = (what: keyof Engine): boolean => known.value?.[what] ?? true;
