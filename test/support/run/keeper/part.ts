import type { Need, Parts } from '../infra.ts';

/** Something that runs for the tests. */
export type Part<N extends Need = Need> = {
  readonly value: Parts[N];
  readonly stop: () => Promise<void>;
  /** Resolves with the reason once it has ended. */
  readonly ended?: Promise<string>;
};

/** The value of another part, which is started when nobody needed it before. */
export type Use = <N extends Need>(need: N) => Promise<Parts[N]>;

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
