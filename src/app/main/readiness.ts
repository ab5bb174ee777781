import type { ReadyBody } from '../../adapters/http/schema/system.ts';

export type PartState = ReadyBody['parts']['engine'];

/** What is known of each part; the engine's and the image's are kept up to date by whoever brings them up. */
export type Parts = { engine: PartState; image: PartState };

/** Whether a part answers now; a rejection is a no. */
export type Asks = { readonly database: () => Promise<void>; readonly engine: () => Promise<void> };

const yes = (ask: () => Promise<void>): Promise<boolean> =>
  ask().then(
    () => true,
    () => false,
  );

const SILENT: PartState = {
  status: 'degraded',
  detail: 'does not answer',
  mend: 'start the container engine again; one of its own Berth starts when it is restarted',
};

/** Ready once all is there, degraded when a missing engine is known and said, unready without a database. */
export async function readinessOf(parts: Parts, asks: Asks): Promise<ReadyBody> {
  const wasUp = parts.engine.status === 'ready';
  const [databaseAnswers, engineAnswers] = await Promise.all([yes(asks.database), wasUp && yes(asks.engine)]);
  const database: PartState = databaseAnswers
    ? { status: 'ready', detail: 'answers' }
    : { status: 'down', detail: 'does not answer' };
  const engine = wasUp && !engineAnswers ? SILENT : parts.engine;
  const { image } = parts;
  const preparing = engine.status === 'ready' && image.status === 'down';
  const isWhole = engine.status === 'ready' && image.status === 'ready';
  const status = !databaseAnswers || preparing ? 'unready' : isWhole ? 'ready' : 'degraded';
  return { status, parts: { database, engine, image } };
}
