import { setTimeout as delay } from 'node:timers/promises';
import type { Berth, Container, Schemas } from '../../client/index.ts';
import { CliError } from '../cli-error.ts';

const EACH_MS = 1000;
const UNDER_WAY: ReadonlySet<string> = new Set(['creating', 'starting', 'stopping', 'updating']);

/** Reads the container until nothing is being done to it. */
export async function untilSettled(container: Container): Promise<void> {
  while (UNDER_WAY.has(container.info.status)) {
    await delay(EACH_MS);
    await container.refresh();
  }
}

/** Reads the snapshot until it is ready; fails when it could not be taken. */
export async function untilTaken(berth: Berth, taken: Schemas['Snapshot']): Promise<Schemas['Snapshot']> {
  let snapshot = taken;
  while (snapshot.status === 'creating') {
    await delay(EACH_MS);
    snapshot = await berth.snapshots.get(snapshot.id);
  }
  if (snapshot.status === 'ready') return snapshot;
  throw new CliError(`The snapshot ${snapshot.name} could not be taken.`, { code: 'snapshot_failed' });
}
