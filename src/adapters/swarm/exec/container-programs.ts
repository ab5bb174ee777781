import { LRUCache } from 'lru-cache';
import type { EngineWait } from '../../../ports/metrics.ts';
import { type EngineCalls, inContainer } from '../../docker/engine/engine-client.ts';
import { dockerPrograms } from '../../docker/exec/container-programs.ts';
import { isStartReport } from '../../docker/exec/exec-stream.ts';
import type { QueuedPrograms } from '../../scripts/queued-programs.ts';
import type { Located } from '../containers/locate.ts';
import type { Swarm } from '../swarm.ts';

const MAX_KNOWN = 10_000;

/** Programs by the exec of the nodes' engines, where each takes a turn of its node. */
export function swarmPrograms({ locator }: Swarm): QueuedPrograms {
  const owners = new LRUCache<string, string>({ max: MAX_KNOWN });
  const engines = new Set<EngineCalls>();
  let report = (_wait: EngineWait): void => {};

  const inside = <T>(runtimeId: string, work: (located: Located) => Promise<T>): Promise<T> =>
    locator.inside(runtimeId, async (located) => {
      const { calls, containerId } = located;
      if (!engines.has(calls)) {
        engines.add(calls);
        for (const turns of [calls.slots, calls.work]) turns.listen((wait) => report(wait));
      }
      calls.slots.belongs(containerId, owners.get(runtimeId) ?? runtimeId);
      return await inContainer(work(located));
    });
  const sumOf = (count: (calls: EngineCalls) => number): number =>
    [...engines].reduce((sum, calls) => sum + count(calls), 0);

  return {
    start: (runtimeId, request) =>
      inside(runtimeId, ({ calls, containerId }) => dockerPrograms(calls).start(containerId, request)),
    isStartReport,
    isFull: (runtimeId) =>
      inside(runtimeId, ({ calls, containerId }) => dockerPrograms(calls).isFull(containerId)),
    isIdle: () => sumOf(({ slots }) => slots.waiting()) === 0,
    ownerOf: (runtimeId) => owners.get(runtimeId) ?? runtimeId,
    transfer: (runtimeId) => inside(runtimeId, ({ calls, containerId }) => calls.work.transfer(containerId)),
    piece: (runtimeId) => inside(runtimeId, ({ calls, containerId }) => calls.work.piece(containerId)),
    listen(listener) {
      report = listener;
    },
    waiting: () => ({
      calls: sumOf(({ slots }) => slots.waiting()),
      work: sumOf(({ work }) => work.waiting()),
    }),
    idOf({ runtimeId, ownerId }) {
      if (ownerId !== undefined) owners.set(runtimeId, ownerId);
      return runtimeId;
    },
  };
}
