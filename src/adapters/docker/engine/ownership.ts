import type Docker from 'dockerode';
import {
  ContainerNotRunning,
  RuntimeFailure,
  type RuntimeHandle,
} from '../../../ports/containers/container-runtime.ts';
import { inspect } from '../containers/create-container.ts';
import type { EngineCalls } from './engine-client.ts';
import { INSTANCE_LABEL } from './engine-names.ts';

export type Ownership = {
  /** The container; fails when it is absent or has another label. */
  require(handle: RuntimeHandle): Promise<Docker.Container>;
  /** The container, null when absent; fails when it has another label. */
  find(handle: RuntimeHandle): Promise<Docker.Container | null>;
  remember(id: string): void;
  forget(id: string): void;
};

/** What is known of an engine, shared by all its users. */
const shared = new WeakMap<EngineCalls, Map<string, Ownership>>();

/** Checks a container's label once, before any change: labels never change. */
export function ownership(calls: EngineCalls, instanceId: string): Ownership {
  const ofEngine = shared.get(calls) ?? new Map<string, Ownership>();
  const own = ofEngine.get(instanceId) ?? newOwnership(calls, instanceId);
  shared.set(calls, ofEngine.set(instanceId, own));
  return own;
}

function newOwnership(calls: EngineCalls, instanceId: string): Ownership {
  const known = new Set<string>();
  const find = async ({ runtimeId, ownerId }: RuntimeHandle): Promise<Docker.Container | null> => {
    calls.slots.belongs(runtimeId, ownerId);
    const container = calls.docker.getContainer(fullId(runtimeId));
    if (known.has(runtimeId)) return container;
    const info = await inspect(calls, runtimeId);
    if (info === null) return null;
    if (info.Config.Labels[INSTANCE_LABEL] !== instanceId) {
      throw new RuntimeFailure(`container ${runtimeId} does not belong to this installation`);
    }
    known.add(runtimeId);
    return container;
  };
  return {
    find,
    async require(handle) {
      const container = await find(handle);
      if (container === null) throw new ContainerNotRunning(`no such container: ${handle.runtimeId}`, true);
      return container;
    },
    remember: (id) => known.add(id),
    forget: (id) => known.delete(id),
  };
}

/** Engines and swarms resolve names and id prefixes too, so only full ids may reach them. */
export function fullId(runtimeId: string): string {
  if (/^[0-9a-f]{64}$/.test(runtimeId)) return runtimeId;
  throw new ContainerNotRunning('not a full runtime id', true);
}
