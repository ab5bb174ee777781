import { randomUUID } from 'node:crypto';
import type Docker from 'dockerode';
import type { Test } from 'tap';
import { type DockerAccess, dockerAccess } from '../../../src/adapters/docker/container-access.ts';
import { dockerRuntime } from '../../../src/adapters/docker/containers/container-runtime.ts';
import { runtimeSettings } from '../../../src/adapters/docker/containers/runtime-settings.ts';
import { addressOf, probe } from '../../../src/adapters/docker/engine/engine-probe.ts';
import { killFromHost } from '../../../src/adapters/docker/host/host-kill.ts';
import { dockerWarmPoolEngine } from '../../../src/adapters/docker/images/container-images.ts';
import {
  ensureNetwork,
  type InstanceNetwork,
} from '../../../src/adapters/docker/network/instance-network.ts';
import { dockerTerminals } from '../../../src/adapters/docker/terminals/terminal-backend.ts';
import { COUNTED, type DiskSettings } from '../../../src/adapters/docker/volumes/container-volumes.ts';
import type { WarmPoolEngine } from '../../../src/ports/containers/container-images.ts';
import type { ContainerRuntime } from '../../../src/ports/containers/container-runtime.ts';
import type { TerminalBackend } from '../../../src/ports/terminals/terminal-backend.ts';
import { needs } from '../run/needs.ts';
import { silentLog } from '../silent-log.ts';
import { removeInstance } from './instance.ts';

export type TestEngine = {
  readonly docker: Docker;
  readonly kind: 'external' | 'private';
  readonly isLocal: boolean;
  readonly endpoint: string;
  readonly image: string;
};

/** The engine of this run, or null after the test was skipped with the reason. */
export async function engineOrSkip(t: Test): Promise<TestEngine | null> {
  const part = await needs(t, 'engine');
  if (part === null) return null;
  return { ...part, ...(await engineAt(part.endpoint)) };
}

/** A new client of the engine. */
export async function engineAt(endpoint: string): Promise<Pick<TestEngine, 'docker' | 'isLocal'>> {
  const answer = await probe(addressOf(endpoint, null));
  if (!answer.answers) throw new Error(`the test engine at ${endpoint} does not answer: ${answer.detail}`);
  return { docker: answer.docker, isLocal: endpoint.startsWith('unix:') };
}

export type TestInstance = TestEngine &
  DockerAccess & {
    readonly instanceId: string;
    readonly network: InstanceNetwork;
    readonly runtime: ContainerRuntime;
    /** As a service that has just started has it: nothing is known of what went before. */
    restarted(): Promise<ContainerRuntime>;
    readonly terminals: TerminalBackend;
    readonly warmPool: WarmPoolEngine;
  };

/** An installation of its own on the test engine, whose processes may have so many open files; all that carries its label is removed after the test. */
export async function testInstance(
  t: Test,
  engine: TestEngine,
  disk: (instanceId: string) => Promise<DiskSettings> = async () => COUNTED,
  openFiles?: number,
): Promise<TestInstance> {
  const instanceId = randomUUID();
  t.teardown(() => removeInstance(engine, instanceId));
  const network = await ensureNetwork(engine, { instanceId, log: silentLog });
  const settings = await runtimeSettings(engine.docker, { instanceId, network: network.name, node: 'test' });
  const { processLimits } = settings;
  const limits = openFiles === undefined ? processLimits : { ...processLimits, nofile: openFiles };
  const sizes = await disk(instanceId);
  const kill = engine.kind === 'private' ? killFromHost : null;
  const runtimeOn = (docker: Docker): ContainerRuntime =>
    dockerRuntime(docker, { ...settings, processLimits: limits, disk: sizes, kill });
  const access = dockerAccess(engine.docker, instanceId);
  return {
    ...engine,
    ...access,
    instanceId,
    network,
    runtime: runtimeOn(engine.docker),
    restarted: async () => runtimeOn((await engineAt(engine.endpoint)).docker),
    terminals: dockerTerminals(engine.docker),
    warmPool: dockerWarmPoolEngine(engine.docker),
  };
}
