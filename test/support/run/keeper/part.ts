import type { Need, Parts } from '../infra.ts';

/** A part that runs for the tests. */
export type Part<N extends Need = Need> = {
  readonly value: Parts[N];
  readonly stop: () => Promise<void>;
  /** Resolves with the reason when it has ended. */
  readonly ended?: Promise<string>;
};

/** Another part, started if needed. */
export type Use = <N extends Need>(need: N) => Promise<Parts[N]>;

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
