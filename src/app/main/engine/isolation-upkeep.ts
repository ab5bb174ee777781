import { repeat } from '../../../concurrency/repeat.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Parts } from '../health/readiness.ts';
import type { EngineSlot } from './engine-ports.ts';
import { type Closing, watchIsolation } from './isolation-check.ts';

export type IsolationUpkeepOptions = {
  readonly slot: EngineSlot;
  readonly parts: Parts;
  readonly log: Logger;
  readonly closing?: Closing;
  /** A flush of the packet filter removes the rules; the next pass sets them again. */
  readonly rulesEveryMs: number;
};

/** Asserts the network rules at an interval, tests them, and reports to the readiness. */
export function startIsolationUpkeep({ slot, parts, log, rulesEveryMs, closing }: IsolationUpkeepOptions) {
  const isolation = watchIsolation({
    parts,
    log,
    ...(closing && { closing }),
    assertRules: () => slot.assertRules(),
  });
  const stopRules = repeat(rulesEveryMs, () => isolation.checkRules(), log);
  return {
    ...isolation,
    async stop(): Promise<void> {
      await stopRules();
      await isolation.stop();
    },
  };
}
