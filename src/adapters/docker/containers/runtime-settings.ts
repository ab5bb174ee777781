import { availableParallelism } from 'node:os';
import type Docker from 'dockerode';
import { engineCalls, engineInfo, LIMITS } from '../engine/engine-client.ts';
import { cgroupName } from '../engine/engine-names.ts';
import { processLimits } from '../host/process-limits.ts';
import type { DockerRuntimeSettings } from './container-runtime.ts';

type Chosen = Pick<DockerRuntimeSettings, 'instanceId' | 'network' | 'node'>;

/** Completes the settings of `dockerRuntime` by what this engine and machine allow. */
export async function runtimeSettings(docker: Docker, chosen: Chosen): Promise<DockerRuntimeSettings> {
  const info = await engineCalls(docker).read(LIMITS.inspect, (signal) => engineInfo(docker, signal));
  const group = cgroupName(chosen.instanceId);
  const parents: Readonly<Record<string, string>> = { cgroupfs: `/${group}`, systemd: `${group}.slice` };
  const cgroupParent = parents[(info as { CgroupDriver?: string }).CgroupDriver ?? ''] ?? null;
  const { NCPU: cpus = availableParallelism() } = info as { NCPU?: number };
  return { ...chosen, cgroupParent, hostCpuMillicores: cpus * 1000, processLimits: await processLimits() };
}
