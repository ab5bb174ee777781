import { rmSync } from 'node:fs';
import t, { type Test } from 'tap';
import { layoutOf } from '../../../src/adapters/docker/private-engine/private-engine-paths.ts';
import { addRecord, readRecords } from '../../../src/adapters/engine-record.ts';
import { memoryStorage } from '../../../src/adapters/memory/storage.ts';
import { readConfig } from '../../../src/app/main/config.ts';
import { useSwarm } from '../../../src/app/main/engine/use-swarm.ts';
import { aNewContainer, storedUser } from '../../support/database/stored.ts';
import { aSpec } from '../../support/engine/container.ts';
import { aFolder } from '../../support/folder.ts';
import { waitFor, waitForValue } from '../../support/patience.ts';
import { type StandIn, standInSwarm } from '../../support/swarm/stand-in.ts';

const addressOf = ({ address: { host, port } }: StandIn): string => `tcp://${host}:${port}`;

/** The row of an installation that has used no swarm yet. */
const aRow = () => memoryStorage({ now: () => new Date() }).repositories.installation;

/** Uses a swarm by its managers. */
async function use(
  t: Test,
  managers: readonly string[],
  dataDir: string,
  baseImage: string | null = null,
  installation = aRow(),
) {
  const read = readConfig({
    BERTH_ENGINE: 'swarm',
    BERTH_DATA_DIR: dataDir,
    BERTH_SWARM_MANAGERS: managers.join(),
    BERTH_SWARM_NODE_URL: String(managers.at(-1)).replace('tcp:', 'http:'),
  });
  if ('faults' in read) throw new Error(read.faults.join());
  const said: string[] = [];
  const say = (...words: readonly unknown[]): void => void said.push(String(words.at(-1)));
  const ending = new AbortController();
  let stop = async (): Promise<void> => {};
  const used = await useSwarm(
    (given) => {
      stop = given;
    },
    {
      config: read.config,
      log: { info: say, warn: say, error: say },
      signal: ending.signal,
      instanceId: 'an-installation',
      baseImage,
      isPausing: async () => false,
      metrics: { watch: () => {}, engineWaited: () => {} },
      onHint: () => {},
      installation,
      againMs: 10,
    },
  );
  t.teardown(() => {
    ending.abort();
    return stop();
  });
  return { ...used, said };
}

t.test('containers in a cluster keep a swarm from being used in its stead', async (t) => {
  const swarm = await standInSwarm(t);
  const dataDir = aFolder(t);
  await addRecord(dataDir, { kind: 'kubernetes', endpoint: 'https://10.0.0.1' });
  const { parts, runtime } = await use(t, [addressOf(swarm)], dataDir);
  t.match(parts.engine, { status: 'degraded', reason: 'unusable' });
  await t.rejects(runtime.list(), { name: 'RuntimeUnavailable' });
  t.match(await readRecords(layoutOf(dataDir)), [{ kind: 'kubernetes' }]);
  rmSync(layoutOf(dataDir).record);
  await waitForValue(
    () => parts.engine.status,
    (status) => status === 'ready',
  );
});

t.test('a manager that is none yet is tried again, and then used', async (t) => {
  const swarm = await standInSwarm(t);
  const { host, port } = swarm.address;
  const dataDir = aFolder(t);
  swarm.behaviour.isManager = false;
  const { parts, runtime, said } = await use(t, [addressOf(swarm)], dataDir);
  t.match(parts.engine, { status: 'degraded', reason: 'unusable' });
  t.match(said, ['the Swarm is not usable']);
  await t.rejects(runtime.list(), { name: 'RuntimeUnavailable' });
  t.match(runtime.capabilities, { keepsLayer: false, hasRoot: true }, 'known before it answers');

  swarm.behaviour.heartbeatSeconds = 5;
  swarm.behaviour.isManager = true;
  await waitForValue(
    () => parts.engine.detail,
    (detail) => detail.includes('1 node'),
  );
  t.match(parts.engine, {
    status: 'degraded',
    detail: /1 node, 1 in use; a cut of 15 s in the network ends containers/,
    mend: 'docker swarm update --dispatcher-heartbeat 60s',
  });
  t.match(await readRecords(layoutOf(dataDir)), [
    { kind: 'swarm', endpoint: `tcp://${host}:${port}`, id: /^swarm-/ },
  ]);
  await runtime.start(await runtime.create(aSpec('an-image')));
  t.match(await runtime.list(), [{ state: 'running' }], 'it is usable all the same');
});

t.test(
  'the next manager is used when the present one does not answer, unless it is of another swarm',
  async (t) => {
    const [one, other, two] = [await standInSwarm(t), await standInSwarm(t, 'n9'), await standInSwarm(t)];
    const { parts, runtime } = await use(
      t,
      ['tcp://127.0.0.1:1', ...[one, other, two].map(addressOf)],
      aFolder(t),
    );
    const usesNow = (manager: StandIn) =>
      waitFor(() => parts.engine.detail.startsWith(`Swarm at ${addressOf(manager)}: 1 node`));
    await usesNow(one);
    t.same(await runtime.list(), []);
    one.behaviour.hasLeader = false;
    await usesNow(two);
    await runtime.create(aSpec('an-image'));
    t.same(
      [one, other, two].map(({ services }) => services.size),
      [0, 0, 1],
    );

    two.behaviour.hasLeader = false;
    await waitForValue(
      () => parts.engine,
      ({ status, reason }) => status === 'degraded' && reason === 'unusable',
    );
    one.behaviour.hasLeader = true;
    await usesNow(one);
    t.same(await runtime.list(), [], 'by the first one again');
  },
);

t.test(
  'a manager that is now in another swarm is not used, and the containers are not taken for gone',
  async (t) => {
    const [one, two] = [await standInSwarm(t), await standInSwarm(t)];
    const dataDir = aFolder(t);
    const { parts, runtime, describe, said } = await use(t, [one, two].map(addressOf), dataDir);
    const usesNow = (manager: StandIn) =>
      waitFor(() => parts.engine.detail.startsWith(`Swarm at ${addressOf(manager)}: 1 node`));
    await usesNow(one);
    one.behaviour.swarmId = 'a-new-one';
    await usesNow(two);
    const again = await use(t, [one, two].map(addressOf), dataDir);
    t.match(
      again.said.join(),
      `the manager at ${addressOf(one)} is left out: OtherSwarm: the manager is now`,
    );
    t.match(again.parts.engine, { detail: `Swarm at ${addressOf(two)}` }, 'nor at a start');

    two.behaviour.swarmId = 'a-new-one';
    await t.rejects(runtime.list(), { name: 'OtherSwarm' });
    await t.rejects(runtime.find('a-container', 1), { name: 'OtherSwarm' });
    await t.rejects(runtime.volumeExists('a-volume'), { name: 'OtherSwarm' });
    await waitFor(() => parts.engine.mend === 'see the log, and docs/swarm.md#more-than-one-manager');
    const state = parts.engine;
    await describe();
    t.match(parts.engine, state, 'the nodes of the other one are not described');
    t.match(said.join(), 'is not usable');
    t.match(await readRecords(layoutOf(dataDir)), [{ id: `swarm-${one.nodeId}` }]);
  },
);

t.test('a manager that answers, but cannot be prepared, holds up no other', async (t) => {
  const [one, two] = [await standInSwarm(t), await standInSwarm(t)];
  one.behaviour.refusesNetworks = true;
  two.behaviour.missingImage = 'an-image';
  const { parts } = await use(t, [one, two].map(addressOf), aFolder(t), 'an-image');
  await waitFor(() => parts.engine.detail.startsWith(`Swarm at ${addressOf(two)}`));
});

t.test('a switch to a manager that cannot be prepared hides no fault of the isolation', async (t) => {
  const [one, two] = [await standInSwarm(t), await standInSwarm(t)];
  const { parts } = await use(t, [one, two].map(addressOf), aFolder(t), 'an-image');
  t.match(parts.engine, { status: 'ready' });
  const found = { status: 'degraded', detail: 'containers can reach each other', reason: 'open' } as const;
  parts.isolation = found;
  two.behaviour.refusesNetworks = true;
  one.behaviour.hasLeader = false;
  await waitFor(() => parts.engine.detail === 'the Swarm is not usable');
  t.match(parts.isolation, found);
});

t.test('all processes of an installation use the Swarm of its first one', async (t) => {
  const [one, other] = [await standInSwarm(t), await standInSwarm(t, 'n9')];
  const row = aRow();
  const first = await use(t, [addressOf(one)], aFolder(t), null, row);
  t.match(first.parts.engine, { status: 'ready' });
  t.equal(await row.swarmId(), one.behaviour.swarmId);

  const second = await use(t, [addressOf(other)], aFolder(t), null, row);
  t.match(second.parts.engine, {
    status: 'degraded',
    mend: 'see the log, and docs/swarm.md#more-than-one-manager',
  });
  await t.rejects(second.runtime.list(), { name: 'RuntimeUnavailable' });
  await row.changeSwarm(other.behaviour.swarmId);
  await waitFor(() => second.parts.engine.status === 'ready');
  await waitFor(() => first.parts.engine.mend === 'restart Berth');
  await t.rejects(first.runtime.list(), { name: 'RuntimeUnavailable' }, 'it has left its Swarm');
  await row.changeSwarm(one.behaviour.swarmId);
  await waitFor(() => first.parts.engine.status === 'ready');
  t.same(await first.runtime.list(), [], 'and is back in it');
});

t.test('a process leaves a Swarm whose manager it could not prepare', async (t) => {
  const [one, other] = [await standInSwarm(t), await standInSwarm(t, 'n9')];
  one.behaviour.refusesNetworks = true;
  const row = aRow();
  const { parts, runtime } = await use(t, [addressOf(one)], aFolder(t), 'an-image', row);
  t.match(parts.engine, { status: 'degraded' });
  t.same(await runtime.list(), [], 'its containers are managed');
  await row.changeSwarm(other.behaviour.swarmId);
  await waitFor(() => parts.engine.mend === 'restart Berth');
  await t.rejects(runtime.list(), { name: 'RuntimeUnavailable' });
});

t.test('after the last Swarm was left, a start records no other one', async (t) => {
  const swarm = await standInSwarm(t);
  const [row, dataDir] = [aRow(), aFolder(t)];
  await addRecord(dataDir, { kind: 'swarm', endpoint: addressOf(swarm), id: swarm.behaviour.swarmId });
  await row.changeSwarm(null);
  const { parts } = await use(t, [addressOf(swarm)], dataDir, null, row);
  t.match(parts.engine, { reason: 'unusable', mend: /`berth use-swarm --id <Swarm id>`$/ });
  await row.changeSwarm(swarm.behaviour.swarmId);
  await waitFor(() => parts.engine.status === 'ready');
});

t.test('an installation without a Swarm in its row uses the one of its data folder', async (t) => {
  const [one, other] = [await standInSwarm(t), await standInSwarm(t, 'n9')];
  const [row, dataDir] = [aRow(), aFolder(t)];
  await addRecord(dataDir, { kind: 'swarm', endpoint: addressOf(one), id: one.behaviour.swarmId });
  const { parts } = await use(t, [addressOf(other)], dataDir, null, row);
  t.match(parts.engine, { status: 'degraded', reason: 'unusable' });
  t.equal(await row.swarmId(), null);
  await use(t, [addressOf(one)], dataDir, null, row);
  t.equal(await row.swarmId(), one.behaviour.swarmId);
});

t.test('an installation with containers elsewhere uses a Swarm only when it is named', async (t) => {
  const swarm = await standInSwarm(t);
  const storage = memoryStorage({ now: () => new Date() });
  const { installation, containers } = storage.repositories;
  const ada = await storedUser(storage);
  await containers.insert(aNewContainer(ada.id));
  const { parts, runtime } = await use(t, [addressOf(swarm)], aFolder(t), null, installation);
  t.match(parts.engine, { reason: 'unusable', mend: /run `berth use-swarm --id <Swarm id>`$/ });
  await t.rejects(runtime.list(), { name: 'RuntimeUnavailable' });
  t.equal(await installation.swarmId(), null, 'nor is it recorded');

  const dataDir = aFolder(t);
  await addRecord(dataDir, { kind: 'swarm', endpoint: addressOf(swarm), id: swarm.behaviour.swarmId });
  const known = await use(t, [addressOf(swarm)], dataDir, null, installation);
  t.match(known.parts.engine, { status: 'ready' }, 'the data folder has its id');
});

t.test('of two first starts with different Swarms, one is refused', async (t) => {
  const [one, other] = [await standInSwarm(t), await standInSwarm(t, 'n9')];
  const row = aRow();
  const started = [one, other].map((manager) => use(t, [addressOf(manager)], aFolder(t), null, row));
  const states = (await Promise.all(started)).map(({ parts }) => parts.engine.status);
  t.same(states.toSorted(), ['degraded', 'ready']);
});
