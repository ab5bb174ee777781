import type { ReadyBody } from '../../adapters/http/schema/system.ts';

export type PartState = ReadyBody['parts']['engine'];

/** What is known of each part; the engine's and the image's are kept up to date by whoever brings them up. */
export type Parts = { engine: PartState; image: PartState };

/** 200 once all is there, or when a missing engine is known and said; unready without a database. */
export async function readinessOf(parts: Parts, databaseAnswers: () => Promise<boolean>): Promise<ReadyBody> {
  const answers = await databaseAnswers().catch(() => false);
  const database: PartState = answers
    ? { status: 'ready', detail: 'answers' }
    : { status: 'down', detail: 'does not answer' };
  const preparing = parts.engine.status === 'ready' && parts.image.status === 'down';
  const all = [parts.engine, parts.image];
  const status =
    !answers || preparing ? 'unready' : all.every((part) => part.status === 'ready') ? 'ready' : 'degraded';
  return { status, parts: { database, ...parts } };
}
