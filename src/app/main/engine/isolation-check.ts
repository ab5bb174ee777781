import type { PartState } from '../../../domain/service/health.ts';
import { RightMissing, RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { Canary, Reached } from '../../../ports/containers/isolation-canary.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Parts } from '../health/readiness.ts';

/** Time for the start, for users who return with their terminals, and for a service that soon ends again. */
const FIRST_AFTER_MS = 120_000;
const EVERY_MS = 3_600_000;
/** A busy machine or engine can fail a check, which says nothing about the isolation: repeat it soon. */
const RETRY_MS = 15_000;
/** Each failed check makes the wait twice as long, up to this: what is missing may stay so for days. */
const MOST_RETRY_MS = 1_800_000;

export const NOT_TESTED: PartState = {
  status: 'testing',
  detail: 'being tested: the first result comes some two minutes after the engine is ready',
};

/** How an engine closes its containers' network, in the words for administrators. */
export type Closing = {
  /** What closes it. */
  readonly by: string;
  /** What is open without it. */
  readonly around: string;
  /** What to do about an opening, and about changes from outside. */
  readonly mend: string;
  readonly mendChanged: string;
  /** The page about it. */
  readonly docs: string;
};

export const BY_PACKET_FILTER: Closing = {
  by: 'packet filter',
  around: 'services of this machine',
  mend: 'start Berth as root on the machine of its engine, or block this in the packet filter (see docs/engine.md)',
  mendChanged: 'see the log for the rules, and find out what on this machine changes them',
  docs: 'docs/engine.md',
};

export type IsolationDeps = {
  readonly parts: Pick<Parts, 'isolation'>;
  readonly log: Logger;
  readonly closing?: Closing;
  /** Sets the rules; returns foreign changes since the last time. */
  readonly assertRules: () => Promise<readonly string[]>;
  readonly firstAfterMs?: number;
  readonly everyMs?: number;
  readonly retryMs?: number;
};

/**
 * Runs the isolation check soon after the start and each hour, and updates the readiness. If something is open, sets
 * the rules and checks once more.
 */
export function watchIsolation(deps: IsolationDeps) {
  const { firstAfterMs = FIRST_AFTER_MS, everyMs = EVERY_MS, retryMs = RETRY_MS } = deps;
  const { closing = BY_PACKET_FILTER } = deps;
  let canary: Canary | null = null;
  let timer: NodeJS.Timeout | undefined;
  let pass: Promise<void> = Promise.resolve();
  let ended = false;
  let proved = deps.parts.isolation;
  let rules: PartState | null = null;
  const show = (): void => {
    deps.parts.isolation = rules ?? proved;
  };
  const result: Result = {
    lastReached: [],
    set(found) {
      proved = found;
      show();
    },
  };

  const again = (tested: Canary, afterMs: number, nextRetryMs = retryMs): void => {
    // One that was replaced during its check.
    if (ended || canary !== tested) return;
    timer = setTimeout(() => {
      pass = tryOut({ ...deps, closing, result }, tested, () => ended || canary === null).then((tried) =>
        tried ? again(tested, everyMs) : again(tested, nextRetryMs, Math.min(2 * nextRetryMs, MOST_RETRY_MS)),
      );
    }, afterMs);
  };
  const leave = async (): Promise<void> => {
    clearTimeout(timer);
    const left = canary;
    canary = null;
    await left?.stop().catch((err: unknown) => deps.log.warn({ err }, 'a test container may be left behind'));
  };
  return {
    /** Ends the checks until the next `begin`, and removes their containers. */
    leave,
    /** Starts the checks, or continues with a returned engine's canary. */
    begin(flown: Canary): void {
      canary = flown;
      clearTimeout(timer);
      again(flown, firstAfterMs);
    },
    /** Sets the rules. Foreign changes degrade the readiness until the next pass finds them intact. */
    checkRules: (): Promise<void> =>
      checkRules(deps, closing, (found) => {
        rules = found;
        show();
      }),
    /** Ends the checks and removes their containers. */
    async stop(): Promise<void> {
      ended = true;
      await leave();
      await pass;
    },
  };
}

/** Asserts the rules, and reports a fault of the isolation, or null. */
async function checkRules(
  deps: IsolationDeps,
  closing: Closing,
  report: (fault: PartState | null) => void,
): Promise<void> {
  try {
    const changed = await deps.assertRules();
    if (changed.length > 0)
      deps.log.error({ changed }, `the ${closing.by} was changed from outside: restoring its rules`);
    report(changed.length > 0 ? changedBy(changed, closing) : null);
  } catch (error) {
    if (!isSilence(error)) report(refused(closing));
    throw error;
  }
}

/** An engine that does not answer refuses nothing: its rules are as before. */
const isSilence = (error: unknown): boolean =>
  error instanceof RuntimeUnavailable && !(error instanceof RightMissing);

/** What the checks found. */
type Result = {
  /** By the last check that was possible. */
  lastReached: readonly Reached[];
  set(found: PartState): void;
};

/** One check with its consequences. Returns whether it was possible. Never throws. */
async function tryOut(
  deps: IsolationDeps & { readonly closing: Closing; readonly result: Result },
  canary: Canary,
  isOver: () => boolean,
): Promise<boolean> {
  const { result, log, closing } = deps;
  const prove = async (): Promise<readonly Reached[]> => {
    result.lastReached = await canary.prove();
    return result.lastReached;
  };
  try {
    const reached = await prove();
    if (reached.length === 0) {
      result.set({ status: 'ready', detail: `verified at ${new Date().toISOString()}` });
      return true;
    }
    log.error({ reached }, `containers can reach ${wordsOf(reached)}: restoring the ${closing.by}`);
    result.set(open(reached, closing));
    await deps.assertRules();
    const still = await prove();
    result.set(
      still.length > 0
        ? open(still, closing)
        : { status: 'ready', detail: `was open (${wordsOf(reached)}), now closed again` },
    );
    if (still.length > 0) log.error({ reached: still }, `containers can still reach ${wordsOf(still)}`);
    return true;
  } catch (err) {
    if (isOver()) return false;
    log.error({ err }, 'could not test the isolation of containers');
    result.set(untested(result.lastReached, closing));
    return false;
  }
}

/** An opening lasts until a check finds it closed. */
function untested(lastReached: readonly Reached[], closing: Closing): PartState {
  const could = 'the isolation of containers could not be tested';
  const mend = `see the log, and ${closing.docs}`;
  return lastReached.length > 0
    ? {
        ...open(lastReached, closing),
        detail: `containers can reach ${wordsOf(lastReached)}; ${could}`,
        mend,
      }
    : { status: 'degraded', detail: could, reason: 'untested', mend };
}

const refused = ({ by, around, docs }: Closing): PartState => ({
  status: 'degraded',
  detail: `the ${by} could not be set: containers may reach each other and ${around}`,
  reason: 'filter_refused',
  mend: `see the log, and ${docs}`,
});

const changedBy = ({ length }: readonly string[], { by, around, mendChanged }: Closing): PartState => ({
  status: 'degraded',
  detail: `the ${by} was changed from outside (${length} ${length === 1 ? 'rule' : 'rules'}) and has been restored; containers may have reached ${around}`,
  reason: 'filter_changed',
  mend: mendChanged,
});

const open = (reached: readonly Reached[], { mend }: Closing): PartState => ({
  status: 'degraded',
  detail: `containers can reach ${wordsOf(reached)}`,
  reason: 'open',
  mend,
});

const WORDS: { readonly [W in Reached['what']]: string } = {
  neighbour: 'each other',
  host: 'services of this machine',
  engine: 'the container engine',
  metadata: 'the metadata address 169.254.169.254',
  node: 'services of their node',
  cluster: "the cluster's API",
};

const wordsOf = (reached: readonly Reached[]): string =>
  [...new Set(reached.map(({ what }) => WORDS[what]))].join(', ');
