import { type EngineCalls, LIMITS, orNull } from '../engine/engine-client.ts';
import { containersWith } from '../engine/engine-lists.ts';

/**
 * Removes an installation's containers that should live for less than `lifeSeconds` and are twice as old: leftovers of
 * a killed process. `label` is their kind, with the installation's id as its value.
 */
export async function removeStale(
  calls: EngineCalls,
  label: string,
  instanceId: string,
  lifeSeconds: number,
): Promise<void> {
  const all = await containersWith(calls, [`${label}=${instanceId}`]);
  const before = Date.now() / 1000 - 2 * lifeSeconds;
  await Promise.all(all.filter(({ Created }) => Created < before).map(({ Id }) => removeNow(calls, Id)));
}

/** 409: the engine is already removing it. */
export const removeNow = (calls: EngineCalls, id: string): Promise<unknown> =>
  calls.change(LIMITS.start, (abortSignal) =>
    orNull([404, 409], calls.docker.getContainer(id).remove({ force: true, abortSignal })),
  );
