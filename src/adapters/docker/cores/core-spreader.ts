import type Docker from 'dockerode';
import { coresFor, spreadCores } from '../../../domain/containers/cores/cores.ts';
import {
  type EngineCalls,
  engineCalls,
  engineInfo,
  LIMITS,
  orNull,
  statusOf,
} from '../engine/engine-client.ts';
import { common, coreReader, usableCores } from './core-readings.ts';

/** The cores of a new limit, as the engine takes them: in turn, until the next `spread`. */
export type ChooseCores = (cpuMillicores: number) => string;

function chooseInTurn(usable: () => readonly number[]): ChooseCores {
  let next = 0;
  return (cpuMillicores) => {
    const machine = usable();
    const need = coresFor(cpuMillicores, machine.length);
    const chosen = Array.from({ length: need }, (_, index) => machine[(next + index) % machine.length] ?? 0);
    next = (next + need) % machine.length;
    return listOf(chosen);
  };
}

/** As the engine takes cores. */
export const listOf = (cores: readonly number[]): string => cores.toSorted((a, b) => a - b).join(',');

export type PinnedCores = {
  readonly choose: ChooseCores;
  /** Gives containers as many cores as their limit fills, and moves them to less busy ones. */
  spread(): Promise<void>;
};

/** Pins the containers of an engine on this machine; null where it cannot. */
export async function pinCores(docker: Docker, instanceId: string): Promise<PinnedCores | null> {
  const calls = engineCalls(docker);
  const info = await calls.read(LIMITS.inspect, (signal) => engineInfo(docker, signal));
  // An engine may refuse cores that came after its start.
  const early = usableCores(instanceId);
  if ((info as { CPUSet?: boolean }).CPUSet !== true || early.length === 0) return null;
  const usable = (): readonly number[] => common(usableCores(instanceId), early);
  return { choose: chooseInTurn(usable), spread: spreadOver(calls, instanceId, usable) };
}

function spreadOver(
  calls: EngineCalls,
  instanceId: string,
  usable: () => readonly number[],
): PinnedCores['spread'] {
  const read = coreReader(instanceId);
  return async () => {
    const machine = usable();
    const moves = spreadCores(await read(machine.length), machine);
    const refusals: unknown[] = [];
    for (const [runtimeId, cores] of moves) {
      // 404, 409: it has ended meanwhile.
      const moving = (abortSignal: AbortSignal) =>
        orNull(
          [404, 409],
          calls.docker.getContainer(runtimeId).update({ CpusetCpus: listOf(cores), abortSignal }),
        );
      await calls.change(LIMITS.start, moving, { runtimeId }).catch((error: unknown) => {
        if (statusOf(error) === null) throw error;
        refusals.push(error);
      });
    }
    if (refusals.length > 0) throw new AggregateError(refusals, 'containers stay on their cores');
  };
}
