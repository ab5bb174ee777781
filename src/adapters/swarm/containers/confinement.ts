import type Docker from 'dockerode';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { inspect } from '../../docker/containers/create-container.ts';
import { type EngineCalls, LIMITS } from '../../docker/engine/engine-client.ts';
import { compareVersions } from '../../docker/engine/engine-probe.ts';
import { runOneShot } from '../../docker/engine/one-shot-container.ts';
import { dockerPrograms } from '../../docker/exec/container-programs.ts';
import { runScript } from '../../scripts/exec/run-script.ts';

const NO_NEW_PRIVILEGES = 'no-new-privileges';
/** Engines of an older API ignore the limits and capabilities of a service without a word. */
const OLDEST_API = '1.41';
/** The first API by which a service confines its tasks. */
const CONFINING_API = '1.44';
const TRIAL_SECONDS = 20;

/** Prints 1 when programs of the container gain no privileges: old engines do not tell. */
const CONFINED = `while read -r name value; do [ "$name" != NoNewPrivs: ] || echo "$value"; done < /proc/1/status`;

/** What to do about a node whose containers could gain privileges. */
export const CONFINE =
  'update its engine and the managers to 25 or newer, or to 20.10 with "no-new-privileges": true in its daemon.json';

/** Engines whose daemon confines all containers, as a trial has shown. */
const proven = new WeakSet<EngineCalls>();

type Trial = { readonly instanceId: string; readonly image: string };

/**
 * Whether the containers of an engine gain no privileges: because a service can ask for it, or by a trial. Without an
 * image for that only each start shows it. `manager`: the engine that hands the services out.
 */
export async function confines(
  calls: EngineCalls,
  manager: EngineCalls,
  trial: () => Promise<Trial | null>,
): Promise<boolean> {
  if (proven.has(calls)) return true;
  const apis = await Promise.all([apiOf(calls), apiOf(manager)]);
  const isFrom = (oldest: string) => apis.every((api) => compareVersions(api, oldest) >= 0);
  if (!isFrom(OLDEST_API)) return false;
  if (isFrom(CONFINING_API)) return true;
  const given = await trial();
  if (given === null) return true;
  const isConfined = await tried(calls, given);
  if (isConfined) proven.add(calls);
  return isConfined;
}

async function apiOf({ docker, read }: EngineCalls): Promise<string> {
  const { ApiVersion = '' } = await read(LIMITS.inspect, (abortSignal) =>
    (docker.version as (options: object) => Promise<{ ApiVersion?: string }>)({ abortSignal }),
  );
  return ApiVersion;
}

/** In a container for which nothing is asked. */
async function tried(calls: EngineCalls, { instanceId, image }: Trial): Promise<boolean> {
  const entrypoint = ['sh', '-c', CONFINED];
  const order = { instanceId, image, entrypoint, rights: { SecurityOpt: [], PidsLimit: 16 } };
  return await runOneShot(calls, order, async (container) => {
    await container.wait({ abortSignal: AbortSignal.timeout(TRIAL_SECONDS * 1000) });
    const said = await calls.read(LIMITS.inspect, (abortSignal) =>
      container.logs({ stdout: true, abortSignal }),
    );
    return said.toString('latin1').trimEnd().endsWith('1');
  });
}

/** Throws unless a task's container is confined as it was asked for: older engines ignore that without a word. */
export async function requireConfined(calls: EngineCalls, containerId: string): Promise<void> {
  const info = await inspect(calls, containerId);
  if (info === null || wasAsked(info.HostConfig)) return;
  if ((await runScript(dockerPrograms(calls), containerId, CONFINED, [])).trim() === '1') return;
  throw new RuntimeFailure(`programs of containers could gain privileges on their node: ${CONFINE}`);
}

const wasAsked = ({ SecurityOpt }: Docker.HostConfig): boolean =>
  ((SecurityOpt ?? []) as readonly string[]).some(
    (option) => option.startsWith(NO_NEW_PRIVILEGES) && !option.endsWith('false'),
  );
