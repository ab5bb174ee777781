import type Docker from 'dockerode';
import type { Resources } from '../../../domain/containers/resources.ts';
import type { ContainerSpec } from '../../../ports/containers/container-runtime.ts';
import { INIT_SCRIPT } from '../../scripts/exec/process-scripts.ts';
import { TOOLS_FOLDER } from '../../scripts/terminals/tmux/tmux-volume-scripts.ts';
import type { ChooseCores } from '../cores/core-spreader.ts';
import {
  DB_ID_LABEL,
  DISK_LABEL,
  GENERATION_LABEL,
  INSTANCE_LABEL,
  OPERATION_LABEL,
  OWNER_LABEL,
} from '../engine/engine-names.ts';
import type { ProcessLimits } from '../host/process-limits.ts';
import { hostnameInside, newName } from './container-names.ts';

export type RuntimeSettings = {
  readonly instanceId: string;
  readonly network: string;
  /** The parent of the containers' control groups, or null for the engine's choice. */
  readonly cgroupParent: string | null;
  /** Of the engine's machine. */
  readonly hostCpuMillicores: number;
  /** Per process; not above the engine's own hard limits. */
  readonly processLimits: ProcessLimits;
  /** The tmux volume, once there is one. */
  readonly tools?: () => string | null;
  /** Mounts by which programs see their container's limits; default none. */
  readonly view?: Docker.MountConfig;
  /** Chooses the cores of a limit; without it a container runs on all. */
  readonly cores?: ChooseCores | undefined;
};

export const MAX_PROCESSES = 512;

/**
 * What root inside a container may do. The first five let package managers unpack files of other owners, the next two
 * let services become their user, and KILL ends other users' processes.
 */
export const CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'SETGID',
  'SETUID',
  'KILL',
] as const;

const MIB = 1024 * 1024;

const labelsOf = (spec: ContainerSpec, instanceId: string): Readonly<Record<string, string>> => ({
  [INSTANCE_LABEL]: instanceId,
  [DB_ID_LABEL]: spec.dbId,
  [GENERATION_LABEL]: String(spec.generation),
  [DISK_LABEL]: String(spec.resources.diskMb),
  ...(spec.ownerId === null ? {} : { [OWNER_LABEL]: spec.ownerId }),
  ...(spec.operationId === null ? {} : { [OPERATION_LABEL]: spec.operationId }),
});

export const createOptions = (
  spec: ContainerSpec,
  settings: RuntimeSettings,
): Docker.ContainerCreateOptions => ({
  name: newName(settings.instanceId, spec),
  Image: spec.image,
  Hostname: hostnameInside(settings.instanceId, spec.dbId, spec.hostname),
  Entrypoint: ['sh', '-c', INIT_SCRIPT, 'berth'],
  Cmd: [],
  WorkingDir: '/workspace',
  User: '0:0',
  Env: envOf(spec.env),
  Labels: { ...labelsOf(spec, settings.instanceId) },
  Healthcheck: { Test: ['NONE'] },
  StopSignal: 'SIGTERM',
  HostConfig: hostConfig(spec, settings),
});

/** HOME is always the volume; the rest of the environment is the user's. */
const envOf = (env: Readonly<Record<string, string>>): string[] =>
  Object.entries({ LANG: 'C.UTF-8', ...env, HOME: '/workspace' }).map(([name, value]) => `${name}=${value}`);

/** The limits that can be changed on a running container. */
export function limitsOf(
  { memoryMb, cpuMillicores }: Resources,
  { hostCpuMillicores, cores }: Pick<RuntimeSettings, 'hostCpuMillicores' | 'cores'>,
) {
  const memory = memoryMb * MIB;
  // The engine refuses more processor than the machine has.
  const millicores = Math.min(cpuMillicores, hostCpuMillicores);
  return {
    Memory: memory,
    MemorySwap: memory,
    NanoCpus: millicores * 1_000_000,
    ...(cores === undefined ? {} : { CpusetCpus: cores(millicores) }),
  };
}

export const toolsMount = (volume: string | null): Docker.MountConfig =>
  volume === null ? [] : [{ Type: 'volume', Source: volume, Target: TOOLS_FOLDER, ReadOnly: true }];

const hostConfig = (spec: ContainerSpec, settings: RuntimeSettings): Docker.HostConfig => ({
  ...limitsOf(spec.resources, settings),
  PidsLimit: MAX_PROCESSES,
  OomScoreAdj: 500,
  ShmSize: 64 * MIB,
  Ulimits: [
    ...Object.entries(settings.processLimits).map(([Name, most]) => ({ Name, Soft: most, Hard: most })),
    { Name: 'core', Soft: 0, Hard: 0 },
  ],
  CapDrop: ['ALL'],
  CapAdd: [...CAPABILITIES],
  SecurityOpt: ['no-new-privileges'],
  Privileged: false,
  Init: true,
  IpcMode: 'private',
  NetworkMode: settings.network,
  // Low ports and ping without capabilities, only in the container's own network.
  Sysctls: { 'net.ipv4.ip_unprivileged_port_start': '0', 'net.ipv4.ping_group_range': '0 65535' },
  PublishAllPorts: false,
  RestartPolicy: { Name: 'no' },
  LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } },
  Mounts: [
    { Type: 'volume', Source: spec.volume, Target: '/workspace', ReadOnly: false },
    ...toolsMount(settings.tools?.() ?? null),
    ...(settings.view ?? []),
  ],
  ...(settings.cgroupParent === null ? {} : { CgroupParent: settings.cgroupParent }),
});
