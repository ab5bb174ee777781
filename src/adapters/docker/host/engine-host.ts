import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { HostFigures } from '../../../domain/containers/capacity/capacity.ts';
import type { EngineHost } from '../../../ports/containers/capacity/engine-host.ts';
import { type EngineCalls, engineCalls, engineInfo, LIMITS } from '../engine/engine-client.ts';
import { cgroupName } from '../engine/engine-names.ts';
import { containerLoads } from './container-loads.ts';
import { readText } from './host-commands.ts';

const MIN_APART_MS = 200;
const MAX_APART_MS = 60_000;
const APART_MS = 300;

type Settings = {
  readonly instanceId: string;
  /** Whether the engine is on this machine, whose own figures then count. */
  readonly isLocal: boolean;
};

/** The machine of one Docker engine. Of another machine only what the engine says is known. */
export function dockerHost(docker: Docker, { instanceId, isLocal }: Settings): EngineHost {
  const calls = engineCalls(docker);
  const processor = processorUse();
  return {
    async figures() {
      const [info, images, cpuUsedMillicores, memoryUsedBytes] = await Promise.all([
        calls.read(LIMITS.inspect, (signal) => engineInfo(docker, signal)) as Promise<EngineFacts>,
        imagesOf(calls),
        isLocal ? processor() : null,
        isLocal ? memoryUsed() : null,
      ]);
      return {
        cpuMillicores: info.NCPU === undefined ? null : info.NCPU * 1000,
        cpuUsedMillicores,
        memoryBytes: info.MemTotal ?? null,
        memoryUsedBytes,
        images,
      };
    },
    loads: isLocal ? containerLoads(cgroupName(instanceId)) : async () => null,
  };
}

type EngineFacts = { readonly NCPU?: number; readonly MemTotal?: number };

/** An image counts only what its parent does not have, as far as the engine knows parents. */
async function imagesOf(calls: EngineCalls): Promise<HostFigures['images']> {
  const all = await calls.read(LIMITS.list, (abortSignal) => calls.docker.listImages({ abortSignal }));
  const sizes = new Map(all.map(({ Id, Size }) => [Id, Size]));
  const bytes = all.reduce(
    (sum, { Size, ParentId }) => sum + Math.max(0, Size - (sizes.get(ParentId) ?? 0)),
    0,
  );
  return { count: all.length, bytes };
}

/** Without what the kernel can reclaim. */
async function memoryUsed(): Promise<number | null> {
  const text = (await readText('/proc/meminfo')) ?? '';
  const kib = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? Number.NaN);
  const used = (kib('MemTotal') - kib('MemAvailable')) * 1024;
  return Number.isNaN(used) ? null : used;
}

type Times = { readonly atMs: number; readonly busyMs: number };

function timesNow(): Times {
  const busy = cpus().map(({ times: { user, nice, sys, irq } }) => user + nice + sys + irq);
  return { atMs: performance.now(), busyMs: busy.reduce((sum, one) => sum + one, 0) };
}

/** Millicores in use by all programs of this machine since the last reading, or for a moment. */
function processorUse(): () => Promise<number> {
  let last: Times | null = null;
  return async () => {
    const elapsedMs = last === null ? Number.POSITIVE_INFINITY : performance.now() - last.atMs;
    const isUseful = elapsedMs >= MIN_APART_MS && elapsedMs <= MAX_APART_MS;
    const before = isUseful && last !== null ? last : timesNow();
    if (!isUseful) await delay(APART_MS);
    const now = timesNow();
    last = now;
    return Math.round(((now.busyMs - before.busyMs) / (now.atMs - before.atMs)) * 1000);
  };
}
