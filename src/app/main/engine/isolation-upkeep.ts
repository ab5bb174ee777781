import { repeat } from '../../../concurrency/repeat.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Parts } from '../health/readiness.ts';
import type { EngineSlot } from './engine-ports.ts';
import { type Closing, watchIsolation } from './isolation-check.ts';

export type IsolationUpkeep = {
  readonly slot: EngineSlot;
  readonly parts: Parts;
  readonly log: Logger;
  readonly closing?: Closing;
  /** A flush of the packet filter removes the rules; the next pass sets them again. */
  readonly rulesEveryMs: number;
};

/** Sets the rules of an engine's network again and again, and tests them, as the readiness shows. */
export function keepIsolation({ slot, parts, log, rulesEveryMs, ...words }: IsolationUpkeep) {
  const isolation = watchIsolation({ parts, log, ...words, assertRules: () => slot.assertRules() });
  const stopRules = repeat(rulesEveryMs, () => isolation.checkRules(), log);
  return {
    ...isolation,
    async stop(): Promise<void> {
      await stopRules();
      await isolation.stop();
    },
  };
}
