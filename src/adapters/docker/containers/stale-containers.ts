import { type EngineCalls, LIMITS, orNull } from '../engine/engine-client.ts';

/**
 * Removes containers of an installation that were to live for less than `lifeSeconds` and are older than twice that: a process
 * that was killed left them. `label` says what kind they are of, and has the installation's id as its value.
 */
export async function removeStale(
  calls: EngineCalls,
  label: string,
  instanceId: string,
  lifeSeconds: number,
): Promise<void> {
  const filters = { label: [`${label}=${instanceId}`] };
  const all = await calls.read(LIMITS.list, (abortSignal) =>
    calls.docker.listContainers({ all: true, filters, abortSignal }),
  );
  const before = Date.now() / 1000 - 2 * lifeSeconds;
  await Promise.all(all.filter(({ Created }) => Created < before).map(({ Id }) => removeNow(calls, Id)));
}

/** 409: the engine is removing it already. */
export const removeNow = (calls: EngineCalls, id: string): Promise<unknown> =>
  calls.change(LIMITS.start, (abortSignal) =>
    orNull([404, 409], calls.docker.getContainer(id).remove({ force: true, abortSignal })),
  );
