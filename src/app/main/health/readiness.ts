import type { ReadyBody } from '../../../adapters/http/schema/service.ts';
import { withinLoopTime } from '../../../adapters/postgres/event-loop-time.ts';

export type PartState = ReadyBody['parts']['engine'];

/** What is known of each part; all but the database's are kept up to date by whoever brings them up. */
export type Parts = { engine: PartState; image: PartState; disk: PartState; isolation: PartState };

/** Whether a part answers now; a rejection is a no. */
export type Asks = { readonly database: () => Promise<void>; readonly engine: () => Promise<void> };

/** A part that has to be waited for so long is not ready. */
const ANSWER_WITHIN_MS = 1_000;

async function yes(ask: () => Promise<void>): Promise<boolean> {
  const answer = ask().then(
    () => true,
    () => false,
  );
  return await withinLoopTime(answer, ANSWER_WITHIN_MS, () => false);
}

const SILENT: PartState = {
  status: 'degraded',
  detail: 'does not answer',
  mend: 'restart the container engine; Berth restarts its own engine automatically',
};

/** Ready once all is there, degraded when a missing engine is known and said, unready without a database. */
export async function readinessOf(parts: Parts, asks: Asks): Promise<ReadyBody> {
  const wasUp = parts.engine.status === 'ready';
  const [databaseAnswers, engineAnswers] = await Promise.all([yes(asks.database), wasUp && yes(asks.engine)]);
  const database: PartState = databaseAnswers
    ? { status: 'ready', detail: 'answers' }
    : { status: 'down', detail: 'does not answer' };
  const engine = wasUp && !engineAnswers ? SILENT : parts.engine;
  const { image, disk, isolation } = parts;
  const preparing = engine.status === 'ready' && image.status === 'down';
  const isWhole = [engine, image, disk, isolation].every((part) => part.status === 'ready');
  const status = !databaseAnswers || preparing ? 'unready' : isWhole ? 'ready' : 'degraded';
  return { status, parts: { database, engine, image, disk, isolation } };
}
