import t, { type Test } from 'tap';
import { layoutOf } from '../../../src/adapters/docker/private-engine/private-engine-paths.ts';
import { readRecords } from '../../../src/adapters/engine-record.ts';
import { memoryStorage } from '../../../src/adapters/memory/storage.ts';
import { readConfig } from '../../../src/app/main/config.ts';
import { useEngine } from '../../../src/app/main/engine/container-engine.ts';
import { findEngine } from '../../../src/app/main/engine/find-engine.ts';
import { sparingLog } from '../../../src/app/main/process/sparing-log.ts';
import { aFolder } from '../../support/folder.ts';
import { waitFor } from '../../support/patience.ts';
import { type StandIn, standInSwarm } from '../../support/swarm/stand-in.ts';

const LOG = { info: () => {}, warn: () => {}, error: () => {} };

/** Uses the engine of the stand-in, for an installation that may have used a Swarm. */
async function use(t: Test, { address }: StandIn, swarmId: string | null = null) {
  const read = readConfig({
    BERTH_ENGINE: 'external',
    BERTH_DATA_DIR: aFolder(t),
    DOCKER_HOST: `tcp://${address.host}:${address.port}`,
  });
  if ('faults' in read) throw new Error(read.faults.join());
  const { config } = read;
  const { installation } = memoryStorage({ now: () => new Date() }).repositories;
  await installation.changeSwarm(swarmId);
  const ending = new AbortController();
  const { signal } = ending;
  const searchLog = sparingLog(LOG);
  const engine = await findEngine(config, { log: searchLog, signal, installation });
  let stop = async (): Promise<void> => {};
  const stopWith = (given: typeof stop): void => {
    stop = given;
  };
  t.teardown(() => {
    ending.abort();
    return stop();
  });
  const used = await useEngine(
    { engine, searchLog, stopWith },
    {
      config,
      log: LOG,
      signal,
      instanceId: 'an-installation',
      baseImage: null,
      isPausing: async () => false,
      metrics: { watch: () => {}, engineWaited: () => {} },
      onHint: () => {},
      installation,
    },
  );
  return { ...used, installation, dataDir: config.dataDir };
}

t.test('nothing is said to be prepared on an engine that cannot be used', async (t) => {
  const engine = await standInSwarm(t);
  engine.behaviour.refusesNetworks = true;
  const { parts } = await use(t, engine);
  t.match(parts.engine, { status: 'degraded', reason: 'unusable' });
  t.match(parts.image, { status: 'degraded', reason: 'waiting' });
  engine.behaviour.refusesNetworks = false;
  await waitFor(() => parts.engine.status === 'ready');
  t.match(parts.image, { reason: 'absent' });
});

t.test('an engine is not used while the containers are in a Swarm', async (t) => {
  const { parts, runtime, installation, dataDir } = await use(t, await standInSwarm(t), 'a-swarm');
  t.match(parts.engine, { status: 'degraded', mend: /the Swarm a-swarm: .*`berth use-swarm --id none`/ });
  t.match([parts.image, parts.disk], [{ reason: 'waiting' }, { reason: 'waiting' }]);
  t.same(await readRecords(layoutOf(dataDir)), [], 'nor recorded as used');
  await t.rejects(runtime.list(), { name: 'RuntimeUnavailable' });
  await installation.changeSwarm(null);
  await waitFor(() => parts.engine.status === 'ready');
});
