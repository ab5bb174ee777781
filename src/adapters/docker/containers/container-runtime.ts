import type Docker from 'dockerode';
import { pollUntil } from '../../../concurrency/poll.ts';
import { ALL_CAPABILITIES } from '../../../domain/containers/engine-capabilities.ts';
import type { ContainerEngine } from '../../../ports/containers/container-engine.ts';
import {
  type ContainerRuntime,
  RuntimeFailure,
  type RuntimeHandle,
} from '../../../ports/containers/container-runtime.ts';
import { startOnCores } from '../cores/lost-cores.ts';
import { type EngineCalls, engineCalls, LIMITS, orNull } from '../engine/engine-client.ts';
import { watchForEnd } from '../engine/engine-events.ts';
import { DB_ID_LABEL, GENERATION_LABEL } from '../engine/engine-names.ts';
import { fullId, ownership } from '../engine/ownership.ts';
import { dockerSnapshots } from '../images/container-images.ts';
import {
  COUNTED,
  type DiskSettings,
  dockerVolumes,
  type Mounted,
  WORKSPACE,
} from '../volumes/container-volumes.ts';
import { type DockerParts, dockerVolumeCopies, unpause } from '../volumes/volume-copies.ts';
import { dockerDisk } from './container-disk.ts';
import { containerName, memberName } from './container-names.ts';
import { dockerObserver } from './container-observer.ts';
import { createOrAdopt, inspect } from './create-container.ts';
import { limitsOf, type RuntimeSettings } from './create-options.ts';

export type DockerRuntimeSettings = RuntimeSettings & {
  /** This engine's name in handles. */
  readonly node: string;
  readonly disk?: DiskSettings;
  /** Kills all processes of a container without the engine; returns whether none is left. Null where Berth cannot. */
  readonly kill?: ((runtimeId: string) => Promise<boolean>) | null;
};

const REMOVAL_SECONDS = 10;

/** Containers on one Docker engine, with all that belongs to them. */
export function dockerRuntime(docker: Docker, settings: DockerRuntimeSettings): ContainerEngine {
  const calls = engineCalls(docker);
  const { instanceId, disk = COUNTED } = settings;
  const own = ownership(calls, instanceId);
  const volumes = dockerVolumes(calls, instanceId, disk);
  return {
    capabilities: ALL_CAPABILITIES,
    ...lifecycle({ calls, own, volumes }, settings),
    ...dockerObserver(calls, settings),
    ...dockerDisk(calls, volumes, disk),
    ...dockerSnapshots(calls, own, instanceId),
    ...dockerVolumeCopies({ calls, own, volumes }, disk, instanceId),
  };
}

function lifecycle({ calls, own, volumes }: DockerParts, settings: DockerRuntimeSettings): ContainerRuntime {
  const { node, kill = null } = settings;
  const known = async (handle: RuntimeHandle) => await inspect(calls, fullId(handle.runtimeId));
  /** Containers made or started here: their volume never changes, and a stopping engine answers slowly. */
  const mounted = new Map<string, Mounted>();
  return {
    async create(spec) {
      await volumes.ensure(spec);
      const runtimeId = await createOrAdopt(calls, spec, settings);
      own.remember(runtimeId);
      mounted.set(runtimeId, { Mounts: [{ Name: spec.volume, Destination: WORKSPACE }] });
      return { node, runtimeId };
    },
    async start(handle) {
      const container = await own.require(handle);
      const before = mounted.get(handle.runtimeId);
      const isReady = before !== undefined && volumes.needNoMount(before);
      const onCores = <T>(start: () => Promise<T>): Promise<T> =>
        startOnCores(calls, container, settings, start);
      if (isReady && (await onCores(() => startUnlessPaused(calls, container)))) return;
      const info = await known(handle);
      // A paused container still uses its volume, so nothing needs preparing.
      if (info?.State.Paused) return await unpause(calls, container);
      if (info !== null) {
        await volumes.beforeStart(info);
        mounted.set(handle.runtimeId, { Mounts: info.Mounts });
      }
      const starting = (abortSignal: AbortSignal) => orNull([304], container.start({ abortSignal }));
      await onCores(() => calls.change(LIMITS.start, starting, { runtimeId: container.id }));
    },
    async stop(handle, graceSeconds, until = 'released') {
      const container = await own.find(handle);
      if (container === null) return 'gone';
      const before = mounted.get(handle.runtimeId);
      const release = async (): Promise<'stopped' | 'gone'> => {
        // Asked while the container stops: the stop does not depend on the answer.
        const asking: Promise<Mounted | null> = Promise.resolve(before ?? known(handle));
        const isStopped = await stopAndUnmount({ calls, volumes }, container, graceSeconds, asking);
        if (!isStopped) mounted.delete(handle.runtimeId);
        return isStopped ? 'stopped' : 'gone';
      };
      // What is mounted for it is only unmounted after all.
      if (until === 'released' || before === undefined || !volumes.needNoMount(before))
        return await release();
      const end = watchForEnd(calls.docker, container.id);
      return await Promise.race([release(), end.ended.then(() => 'stopped' as const)]).finally(end.close);
    },
    resize: async (handle, resources) =>
      await setLimits(calls, await own.require(handle), limitsOf(resources, settings)),
    async remove(handle) {
      const container = await own.find(handle);
      const info = container === null ? null : await known(handle);
      if (container !== null) await removeWholly(calls, container);
      own.forget(handle.runtimeId);
      mounted.delete(handle.runtimeId);
      if (info !== null) await volumes.afterStop(info);
    },
    claim: async (handle) => await claimMember(calls, await own.find(handle), settings.instanceId),
    endHung: ({ runtimeId }) => endHung(calls, fullId(runtimeId), kill),
  };
}

/** Returns false when the container is gone. */
async function stopAndUnmount(
  { calls, volumes }: Pick<DockerParts, 'calls' | 'volumes'>,
  container: Docker.Container,
  graceSeconds: number,
  asking: Promise<Mounted | null>,
): Promise<boolean> {
  asking.catch(() => undefined);
  const isStopped = await stopWholly(calls, container, graceSeconds);
  const info = await asking;
  if (info !== null) await volumes.afterStop(info);
  return isStopped;
}

async function setLimits(
  calls: EngineCalls,
  container: Docker.Container,
  limits: ReturnType<typeof limitsOf>,
): Promise<void> {
  const updating = (abortSignal: AbortSignal) => container.update({ ...limits, abortSignal });
  await calls.change(LIMITS.start, updating, { runtimeId: container.id });
}

/** Renames the member. 409: another caller has just done so. */
async function claimMember(
  calls: EngineCalls,
  container: Docker.Container | null,
  instanceId: string,
): Promise<boolean> {
  const info = container === null ? null : await inspect(calls, container.id);
  const { [DB_ID_LABEL]: dbId = '', [GENERATION_LABEL]: generation } = info?.Config.Labels ?? {};
  if (container === null || info?.Name !== `/${memberName(instanceId, dbId)}`) return false;
  const name = containerName(instanceId, dbId, Number(generation));
  const renaming = (abortSignal: AbortSignal) =>
    orNull(
      [400, 404, 409],
      container.rename({ name, abortSignal }).then(() => true as const),
    );
  return (await calls.change(LIMITS.start, renaming, { runtimeId: container.id })) === true;
}

/**
 * Kills the processes of a container that the engine cannot stop: the engine answers, but not about this one. Otherwise
 * the engine stops it, with SIGTERM first. Without a late start on record, as after a restart, it is asked twice, since
 * a busy engine is slow.
 */
async function endHung(
  calls: EngineCalls,
  runtimeId: string,
  kill: DockerRuntimeSettings['kill'],
): Promise<boolean> {
  if (!kill) return false;
  const tries = calls.slots.isSuspect(runtimeId) ? 1 : 2;
  for (let asked = 0; asked < tries; asked += 1) {
    if (await answers(inspect(calls, runtimeId))) return false;
    if (!(await answers(calls.ping()))) return false;
  }
  return await kill(runtimeId).catch(() => false);
}

const answers = (asked: Promise<unknown>): Promise<boolean> =>
  asked.then(
    () => true,
    () => false,
  );

/** False when the engine refuses. 304: already running. */
async function startUnlessPaused(calls: EngineCalls, container: Docker.Container): Promise<boolean> {
  const starting = (abortSignal: AbortSignal) =>
    orNull(
      [409],
      orNull([304], container.start({ abortSignal })).then(() => true as const),
    );
  return (await calls.change(LIMITS.start, starting, { runtimeId: container.id })) === true;
}

/** False when there was nothing to stop. 304: already stopped. */
async function stopWholly(
  calls: EngineCalls,
  container: Docker.Container,
  graceSeconds: number,
): Promise<boolean> {
  const stopping = (abortSignal: AbortSignal) =>
    orNull(
      [404],
      orNull([304], container.stop({ t: graceSeconds, abortSignal })).then(() => true as const),
    );
  const stopped = await calls.change(graceSeconds + 10, stopping, { runtimeId: container.id });
  return stopped === true;
}

/** 409: another call is removing it, which succeeds once it is gone. */
async function removeWholly(calls: EngineCalls, container: Docker.Container): Promise<void> {
  const removing = (abortSignal: AbortSignal) =>
    orNull(
      [404, 409],
      container.remove({ force: true, v: false, abortSignal }).then(() => true as const),
    );
  const removed = await calls.change(LIMITS.start, removing, { runtimeId: container.id });
  if (removed === true) return;
  const isGone = async (): Promise<boolean> => (await inspect(calls, container.id)) === null;
  if (!(await pollUntil(isGone, { withinMs: REMOVAL_SECONDS * 1000, everyMs: 50 })))
    throw new RuntimeFailure(`container ${container.id} is still being removed`);
}
