import t from 'tap';
import { readConfig } from '../../../src/app/main/config.ts';
import { useEngine } from '../../../src/app/main/engine/container-engine.ts';
import { findEngine } from '../../../src/app/main/engine/find-engine.ts';
import { sparingLog } from '../../../src/app/main/process/sparing-log.ts';
import { aFolder } from '../../support/folder.ts';
import { waitFor } from '../../support/patience.ts';
import { standInSwarm } from '../../support/swarm/stand-in.ts';

const LOG = { info: () => {}, warn: () => {}, error: () => {} };

t.test('nothing is said to be prepared on an engine that cannot be used', async (t) => {
  const { address, behaviour } = await standInSwarm(t);
  behaviour.refusesNetworks = true;
  const read = readConfig({
    BERTH_ENGINE: 'external',
    BERTH_DATA_DIR: aFolder(t),
    DOCKER_HOST: `tcp://${address.host}:${address.port}`,
  });
  if ('faults' in read) throw new Error(read.faults.join());
  const ending = new AbortController();
  const { signal } = ending;
  const searchLog = sparingLog(LOG);
  const engine = await findEngine(read.config, { log: searchLog, signal });
  let stop = async (): Promise<void> => {};
  const stopWith = (given: typeof stop): void => {
    stop = given;
  };
  t.teardown(() => {
    ending.abort();
    return stop();
  });
  const { parts } = await useEngine(
    { engine, searchLog, stopWith },
    {
      config: read.config,
      log: LOG,
      signal,
      instanceId: 'an-installation',
      baseImage: null,
      isPausing: async () => false,
      metrics: { watch: () => {}, engineWaited: () => {} },
      onHint: () => {},
    },
  );
  t.match(parts.engine, { status: 'degraded', reason: 'unusable' });
  t.match(parts.image, { status: 'degraded', reason: 'waiting' });
  behaviour.refusesNetworks = false;
  await waitFor(() => parts.engine.status === 'ready');
  t.match(parts.image, { reason: 'absent' });
});
