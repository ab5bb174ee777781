import { withinLoopTime } from '../../../adapters/postgres/connection/event-loop-time.ts';
import type { PartState } from '../../../domain/service/health.ts';

export type Readiness = {
  readonly status: 'ready' | 'degraded' | 'unready';
  readonly parts: { readonly database: PartState } & Readonly<Parts>;
};

/** State of a component before its first check. */
export const PREPARING = { status: 'down', detail: 'is being prepared', reason: 'starting' } as const;

/** In a cluster, the resources of containers. */
export const SEEN_BY_NODE = {
  status: 'ready',
  detail: 'programs in containers see the memory and cores of their node',
} as const;

export const NO_DEFAULT_IMAGE = {
  status: 'degraded',
  detail: 'the catalogue has no default image',
  reason: 'absent',
} as const;

/** The known state of each part. All but the database's are updated by their owners. */
export type Parts = {
  engine: PartState;
  image: PartState;
  disk: PartState;
  isolation: PartState;
  /** What programs in containers see of memory and cores; always ready. */
  resources: PartState;
};

/** Checks whether a part answers now; a rejection means no. */
export type Asks = { readonly database: () => Promise<void>; readonly engine: () => Promise<void> };

/** A part that takes longer is not ready. */
const ANSWER_WITHIN_MS = 1_000;

async function yes(check: () => Promise<void>): Promise<boolean> {
  const answer = check().then(
    () => true,
    () => false,
  );
  return await withinLoopTime(answer, ANSWER_WITHIN_MS, () => false);
}

const SILENT: PartState = {
  status: 'degraded',
  detail: 'does not answer',
  reason: 'unreachable',
  mend: 'restart the container engine; Berth restarts its own engine automatically',
};

const WITHOUT_ENGINE: PartState = { status: 'degraded', detail: 'waiting for the engine', reason: 'waiting' };

/** Whether the first isolation check cannot come, for want of an engine. */
const isWaiting = ({ engine, isolation }: Readonly<Parts>): boolean =>
  engine.status === 'degraded' && isolation.status === 'testing';

const hasNoFault = ({ status }: PartState): boolean => status === 'ready' || status === 'testing';

/**
 * Ready when every part is, or is being tested; degraded when any part but the database fails; unready without a database or while the
 * image is being prepared.
 */
export async function readinessOf(parts: Parts, asks: Asks): Promise<Readiness> {
  const wasUp = parts.engine.status === 'ready';
  const [databaseAnswers, engineAnswers] = await Promise.all([yes(asks.database), wasUp && yes(asks.engine)]);
  const database: PartState = databaseAnswers
    ? { status: 'ready', detail: 'answers' }
    : { status: 'down', detail: 'does not answer', reason: 'unreachable' };
  const engine = wasUp && !engineAnswers ? SILENT : parts.engine;
  const { image, disk, resources } = parts;
  const isolation = isWaiting(parts) ? WITHOUT_ENGINE : parts.isolation;
  const preparing = engine.status === 'ready' && image.status === 'down';
  const isWhole = [engine, image, disk, isolation].every(hasNoFault);
  const status = !databaseAnswers || preparing ? 'unready' : isWhole ? 'ready' : 'degraded';
  return { status, parts: { database, engine, image, disk, isolation, resources } };
}
