import { signal } from '@preact/signals';
import { type Figures, getFigures } from '../api/containers/containers.ts';
import { poll } from './poll.ts';

/** What the running containers on screen use, by database id. */
export const figures = signal<ReadonlyMap<string, Figures>>(new Map());

/** As often as the service measures. */
const EVERY_MS = 20_000;
/** What is not measured yet is within a second. */
const WHILE_MISSING_MS = 2_000;
const MOST = 100;

/** Keeps the figures of these containers fresh until the returned function is called. */
export function followFigures(dbIds: readonly string[]): () => void {
  const asked = dbIds.slice(0, MOST);
  const read = async (): Promise<void> => {
    if (asked.length === 0) return;
    // why: a row without figures says so, and the list itself reports that the service is gone
    const found = await getFigures(asked).catch(() => null);
    if (found !== null) figures.value = new Map(found.map((one) => [one.db_id, one]));
  };
  const isMissing = (): boolean => asked.some((id) => figures.value.get(id)?.time === null);
  return poll(read, () => (isMissing() ? WHILE_MISSING_MS : EVERY_MS)).stop;
}
