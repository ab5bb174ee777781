import type Docker from 'dockerode';
import { addressOf, engineIdOf, probe } from '../../../adapters/docker/engine/engine-probe.ts';
import {
  countOnEngine,
  removeBaseImage,
  removeFromEngine,
} from '../../../adapters/docker/uninstall/engine-leftovers.ts';
import { forgetHint } from '../../../adapters/docker/uninstall/machine-leftovers.ts';
import { areOther, type RecordedElsewhere } from '../../../adapters/engine-record.ts';
import type { Config } from '../config.ts';
import { type Instance, otherAt, type Records, type UsedEngine, type UsedEngines } from './used-engine.ts';
import { usedSwarms } from './used-swarms.ts';

/**
 * All engines that an installation has used, except a private one, and clusters, from which nothing is removed. Throws
 * when one of them, or one of its nodes, does not answer, and when another engine does.
 */
export async function usedEngines(
  config: Config,
  records: Records,
  instance: Instance,
): Promise<UsedEngines> {
  const swarms = config.engine === 'swarm' ? await usedSwarms(config, records, instance) : NONE;
  const externals = await usedExternals(config, records, instance.id);
  return {
    // After the swarm, which would replace the containers of its services.
    engines: [...swarms.engines, ...externals.engines],
    skippedMessages: [
      ...unrecordedSwarms(records, instance),
      ...swarms.skippedMessages,
      ...externals.skippedMessages,
    ],
  };
}

/** A Swarm without a record is known to the administrator alone. */
const unrecordedSwarms = ({ kept, forgotten }: Records, { hasLeftSwarms }: Instance): readonly string[] =>
  hasLeftSwarms && ![...kept, ...forgotten].some(({ kind }) => kind === 'swarm') ? [LEFT_SWARMS] : [];

const LEFT_SWARMS =
  'Nothing is removed from the Swarms that this installation has left: to remove its containers and volumes there, too, set BERTH_ENGINE=swarm and BERTH_SWARM_MANAGERS to the managers of one, and repeat with --old-swarm and its id.';

const NONE: UsedEngines = { engines: [], skippedMessages: [] };

async function usedExternals(
  { engine, dockerHost }: Config,
  records: Records,
  instanceId: string,
): Promise<UsedEngines> {
  // With other engines it is the address of those, or of none.
  const configuredEndpoint = engine === 'auto' || engine === 'external' ? dockerHost : null;
  const recorded = records.kept.filter((each): each is RecordedElsewhere => each.kind === 'external');
  const forgotten = records.forgotten.filter(({ kind }) => kind === 'external');
  const isForgotten = (endpoint: string): boolean => forgotten.some((each) => each.endpoint === endpoint);
  const usableEndpoint =
    configuredEndpoint === null || isForgotten(configuredEndpoint) ? null : configuredEndpoint;
  const found = new Map<string, Docker>();
  const skippedMessages: string[] = [];
  for (const record of recorded) {
    const { endpoint, docker } = await externalOf(record, usableEndpoint);
    found.set(endpoint, docker);
  }
  if (recorded.length === 0 && usableEndpoint !== null) {
    const docker = await unrecordedExternal(usableEndpoint, forgotten);
    if (docker === 'silent')
      skippedMessages.push(
        `Nothing is removed from the engine at ${usableEndpoint}, because it does not answer.`,
      );
    else if (docker !== null) found.set(usableEndpoint, docker);
  }
  const engines = await Promise.all([...found.values()].map((docker) => usedExternal(docker, instanceId)));
  return { engines, skippedMessages };
}

const usedExternal = async (docker: Docker, instanceId: string): Promise<UsedEngine> => ({
  name: 'the engine',
  leftovers: await countOnEngine(docker, instanceId),
  stays: [],
  async remove() {
    await removeFromEngine(docker, instanceId);
    try {
      const isShared = await removeBaseImage(docker, instanceId);
      return isShared ? ['The base image stays: another installation uses the engine.'] : [];
    } catch (error) {
      return [`The base image may stay: ${String(error)}.`];
    }
  },
});

/** A recorded engine at the address of the settings, or else where it was recorded. */
async function externalOf(
  record: RecordedElsewhere,
  usableEndpoint: string | null,
): Promise<{ readonly endpoint: string; readonly docker: Docker }> {
  let otherEndpoint: string | null = null;
  for (const endpoint of new Set([usableEndpoint ?? record.endpoint, record.endpoint])) {
    const answer = await probe(addressOf(endpoint, null));
    if (!answer.answers) continue;
    if (!areOther(record.id, await engineIdOf(answer))) return { endpoint, docker: answer.docker };
    otherEndpoint = endpoint;
  }
  if (otherEndpoint !== null) throw new Error(otherAt(otherEndpoint, record, 'DOCKER_HOST'));
  throw new Error(
    `the engine at ${record.endpoint} has containers and volumes of Berth, but does not answer: start it, or ${forgetHint(record)}`,
  );
}

/** Null when its id is that of a forgotten engine. Throws when it does not answer, and none was forgotten. */
async function unrecordedExternal(
  endpoint: string,
  forgotten: readonly RecordedElsewhere[],
): Promise<Docker | 'silent' | null> {
  const answer = await probe(addressOf(endpoint, null));
  if (answer.answers) {
    const id = await engineIdOf(answer);
    return forgotten.some((each) => each.id !== undefined && each.id === id) ? null : answer.docker;
  }
  if (forgotten.length > 0) return 'silent';
  throw new Error(
    `the engine at ${endpoint} does not answer, and may have containers and volumes of Berth: start it, or unset DOCKER_HOST`,
  );
}
