import type { Canary, Reached } from '../../../ports/containers/isolation-canary.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { PartState, Parts } from '../health/readiness.ts';

/** Time for the start, for users who return with their terminals, and for a service that soon ends again. */
const FIRST_AFTER_MS = 120_000;
const EVERY_MS = 3_600_000;
/** A busy machine or engine can fail a check, which says nothing about the isolation: repeat it soon. */
const RETRY_MS = 15_000;

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
  const canaryPart = {
    get isolation(): PartState {
      return proved;
    },
    set isolation(found: PartState) {
      proved = found;
      show();
    },
  };

  const again = (afterMs: number): void => {
    if (ended) return;
    timer = setTimeout(() => {
      pass = tryOut({ ...deps, closing, parts: canaryPart }, canary as Canary, () => ended).then((tried) =>
        again(tried ? everyMs : retryMs),
      );
    }, afterMs);
  };
  return {
    /** Starts the checks, or continues with a returned engine's canary. */
    begin(flown: Canary): void {
      canary = flown;
      clearTimeout(timer);
      again(firstAfterMs);
    },
    /** Sets the rules. Foreign changes degrade the readiness until the next pass finds them intact. */
    async checkRules(): Promise<void> {
      try {
        const changed = await deps.assertRules();
        if (changed.length > 0)
          deps.log.error({ changed }, `the ${closing.by} was changed from outside: restoring its rules`);
        rules = changed.length > 0 ? changedBy(changed, closing) : null;
      } catch (error) {
        rules = refused(closing);
        throw error;
      } finally {
        show();
      }
    },
    /** Ends the checks and removes their containers. */
    async stop(): Promise<void> {
      ended = true;
      clearTimeout(timer);
      await canary
        ?.stop()
        .catch((err: unknown) => deps.log.warn({ err }, 'a test container may be left behind'));
      await pass;
    },
  };
}

/** One check with its consequences. Returns whether it was possible. Never throws. */
async function tryOut(
  deps: IsolationDeps & { readonly closing: Closing },
  canary: Canary,
  isOver: () => boolean,
): Promise<boolean> {
  const { parts, log, closing } = deps;
  try {
    const reached = await canary.prove();
    if (reached.length === 0) {
      parts.isolation = { status: 'ready', detail: `verified at ${new Date().toISOString()}` };
      return true;
    }
    log.error({ reached }, `containers can reach ${wordsOf(reached)}: restoring the ${closing.by}`);
    parts.isolation = open(reached, closing);
    await deps.assertRules();
    const still = await canary.prove();
    parts.isolation =
      still.length > 0
        ? open(still, closing)
        : { status: 'ready', detail: `was open (${wordsOf(reached)}), now closed again` };
    if (still.length > 0) log.error({ reached: still }, `containers can still reach ${wordsOf(still)}`);
    return true;
  } catch (err) {
    if (isOver()) return false;
    log.error({ err }, 'could not test the isolation of containers');
    const wasOpen = parts.isolation.status === 'degraded' ? `${parts.isolation.detail}; ` : '';
    parts.isolation = {
      status: 'degraded',
      detail: `${wasOpen}the isolation of containers could not be tested`,
      reason: wasOpen === '' ? 'untested' : 'open',
      mend: `see the log, and ${closing.docs}`,
    };
    return false;
  }
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
