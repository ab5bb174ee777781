import type { Need, Parts } from '../infra.ts';

/** Something that runs for the tests. */
export type Part<N extends Need = Need> = { readonly value: Parts[N]; readonly stop: () => Promise<void> };

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
