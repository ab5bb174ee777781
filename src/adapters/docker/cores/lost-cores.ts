import type Docker from 'dockerode';
import { type EngineCalls, engineInfo, LIMITS, statusOf } from '../engine/engine-client.ts';
import { coresIn, usableCores } from './core-readings.ts';
import { type ChooseCores, listOf } from './core-spreader.ts';

type Limits = { readonly CpusetCpus?: string; readonly NanoCpus?: number };

/**
 * Starts a container. The engine refuses one that has more cores than the machine, or cores that are gone: it receives
 * others, and starts then.
 */
export async function startOnCores<T>(
  calls: EngineCalls,
  container: Docker.Container,
  { instanceId, cores }: { readonly instanceId: string; readonly cores?: ChooseCores | undefined },
  start: () => Promise<T>,
): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (statusOf(error) === null) throw error;
    const choose = cores ?? (() => listOf(usableCores(instanceId)));
    const limits = await limitsThatFit(calls, container, usableCores(instanceId), choose);
    if (limits === null) throw error;
    const updating = (abortSignal: AbortSignal) => container.update({ ...limits, abortSignal });
    await calls.change(LIMITS.start, updating, { runtimeId: container.id });
    return await start();
  }
}

/** Null when the container's own fit. */
async function limitsThatFit(
  calls: EngineCalls,
  container: Docker.Container,
  usable: readonly number[],
  choose: ChooseCores,
): Promise<Limits | null> {
  const [{ HostConfig: has }, info] = await Promise.all([
    calls.read(LIMITS.inspect, (abortSignal) => container.inspect({ abortSignal })),
    calls.read(LIMITS.inspect, (signal) => engineInfo(calls.docker, signal)),
  ]);
  const { NCPU: machine } = info as { readonly NCPU: number };
  const nanoCpus = Math.min(has.NanoCpus ?? 0, machine * 1e9);
  const isLost = coresIn(has.CpusetCpus ?? '').some((core) => !usable.includes(core));
  if (!isLost && nanoCpus === (has.NanoCpus ?? 0)) return null;
  return {
    ...(nanoCpus === 0 ? {} : { NanoCpus: nanoCpus }),
    ...(isLost ? { CpusetCpus: choose(nanoCpus / 1e6) } : {}),
  };
}
