import type Docker from 'dockerode';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { inspect } from '../../docker/containers/create-container.ts';
import type { EngineCalls } from '../../docker/engine/engine-client.ts';
import { engineInfo, LIMITS } from '../../docker/engine/engine-client.ts';

const NO_NEW_PRIVILEGES = 'no-new-privileges';

/** The first engine that confines the tasks of a service one by one. */
const OWN_CONFINEMENT = 1.44;

/** What to do about a node whose containers could gain privileges. */
export const CONFINE =
  'update its engine to 25 or newer, or set "no-new-privileges": true in its daemon.json and restart it';

type Facts = { readonly SecurityOptions?: readonly string[] | null };

/** Whether all containers of an engine are without new privileges, or a service can ask for it. */
export async function confines(calls: EngineCalls): Promise<boolean> {
  const { docker } = calls;
  const version = await calls.read(LIMITS.inspect, (abortSignal) =>
    (docker.version as (options: object) => Promise<{ ApiVersion?: string }>)({ abortSignal }),
  );
  if (Number(version.ApiVersion ?? 0) >= OWN_CONFINEMENT) return true;
  return await confinesAll(calls);
}

const confinesAll = async (calls: EngineCalls): Promise<boolean> => {
  const info = (await calls.read(LIMITS.inspect, (signal) => engineInfo(calls.docker, signal))) as Facts;
  return (info.SecurityOptions ?? []).some((option) => option.includes(NO_NEW_PRIVILEGES));
};

/** Throws unless a task's container is confined as it was asked for: older engines ignore that without a word. */
export async function requireConfined(calls: EngineCalls, containerId: string): Promise<void> {
  const info = await inspect(calls, containerId);
  if (info === null || isConfined(info.HostConfig) || (await confinesAll(calls))) return;
  throw new RuntimeFailure(`programs of containers could gain privileges on their node: ${CONFINE}`);
}

const isConfined = ({ SecurityOpt }: Docker.HostConfig): boolean =>
  ((SecurityOpt ?? []) as readonly string[]).some(
    (option) => option.startsWith(NO_NEW_PRIVILEGES) && !option.endsWith('false'),
  );
