import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { openEngine } from '../../../src/adapters/docker/private-engine/open-engine.ts';
import { layoutOf } from '../../../src/adapters/docker/private-engine/private-engine-paths.ts';
import {
  addRecord,
  otherCluster,
  type Recorded,
  type RecordedElsewhere,
  readRecords,
  recordUse,
} from '../../../src/adapters/engine-record.ts';
import { readConfig } from '../../../src/app/main/config.ts';
import { usedEngines } from '../../../src/app/main/uninstall/engine.ts';
import { withOldSwarms } from '../../../src/app/main/uninstall/used-engine.ts';
import { aFolder } from '../../support/folder.ts';
import { silentLog } from '../../support/samples/samples.ts';
import { standInSwarm } from '../../support/swarm/stand-in.ts';

const NOWHERE = 'tcp://127.0.0.1:1';
const INSTANCE = { id: 'an-installation', defaultImage: null, swarmId: null, hasLeftSwarms: false };

async function aSwarm(t: Test, nodeId: string) {
  const swarm = await standInSwarm(t, nodeId);
  return { ...swarm, endpoint: `tcp://127.0.0.1:${swarm.address.port}` };
}

const recordsIn = (dataDir: string) => readRecords(layoutOf(dataDir));

t.test('where containers are in a cluster, no engine that answers takes its place', async (t) => {
  const manager = await aSwarm(t, 'one');
  for (const kind of ['swarm', 'kubernetes'] as const) {
    const dataDir = aFolder(t);
    await addRecord(dataDir, { kind: 'external', endpoint: manager.endpoint });
    await addRecord(dataDir, { kind, endpoint: manager.endpoint });
    const before = await recordsIn(dataDir);
    const settings = { dataDir, dockerHost: manager.endpoint, progress: () => {}, log: silentLog };
    const engine = await openEngine({ ...settings, mode: 'auto' });
    t.match(engine, { kind: 'none', mend: `set BERTH_ENGINE=${kind}` });
    t.same(await recordsIn(dataDir), before);
    t.equal(await otherCluster(dataDir, kind), null);
    t.match(await otherCluster(dataDir, 'another'), `set BERTH_ENGINE=${kind}`);
  }
});

t.test('all engines that were used are on record, each once', async (t) => {
  const dataDir = aFolder(t);
  const first = { kind: 'external', endpoint: 'unix:///one.sock' } as const;
  mkdirSync(path.join(dataDir, 'engine'));
  writeFileSync(path.join(dataDir, 'engine/engine.json'), JSON.stringify(first));
  t.same(await recordsIn(dataDir), [first], 'the record of an older version');
  const known = { ...first, id: 'A' };
  const swarm = { kind: 'swarm', endpoint: 'tcp://10.0.0.1:2376', id: 'S' } as const;
  const added: readonly Recorded[] = [known, swarm, { ...swarm, endpoint: 'tcp://10.0.0.2:2376' }];
  for (const each of added) await addRecord(dataDir, each);
  t.same(await recordsIn(dataDir), [known, swarm]);
  await addRecord(dataDir, { ...known, id: 'B' });
  t.same(await recordsIn(dataDir), [known, swarm, { ...known, id: 'B' }], 'another at its address');
});

t.test('an engine that cannot be recorded is used, with a warning', async (t) => {
  const dataDir = path.join(aFolder(t), 'a-file');
  writeFileSync(dataDir, '');
  const said: string[] = [];
  const log = { warn: (words: string) => void said.push(words) };
  await recordUse(dataDir, { kind: 'swarm', endpoint: NOWHERE }, log);
  t.match(said, [/is not in the record/]);
});

t.test('each engine on record is found, and no other is taken for it', async (t) => {
  const [one, two] = [await aSwarm(t, 'one'), await aSwarm(t, 'two')];
  const label = { 'berth.instance': 'an-installation' };
  one.volumes.set('ws-one', { Name: 'ws-one', Labels: label });
  const swarm = { kind: 'swarm', endpoint: one.endpoint, id: 'swarm-one' } as const;
  const external = { kind: 'external', endpoint: one.endpoint, id: 'engine-one' } as const;
  const kubernetes = { kind: 'kubernetes', endpoint: NOWHERE } as const;
  const asked = async (
    BERTH_ENGINE: string,
    DOCKER_HOST: string | null,
    kept: readonly Recorded[],
    forgotten: readonly RecordedElsewhere[] = [],
  ): Promise<readonly unknown[]> => {
    const read = readConfig({
      BERTH_ENGINE,
      ...(DOCKER_HOST !== null && { DOCKER_HOST }),
      BERTH_DATA_DIR: aFolder(t),
      ...(BERTH_ENGINE === 'swarm' && { BERTH_SWARM_NODE_URL: one.endpoint.replace('tcp:', 'http:') }),
    });
    if ('faults' in read) throw new Error(read.faults.join());
    const { engines, skippedMessages } = await usedEngines(
      read.config,
      { kept, forgotten, oldSwarms: [] },
      INSTANCE,
    );
    return [...engines.map(({ name, leftovers: { volumes } }) => [name, volumes]), ...skippedMessages];
  };
  const [OF_SWARM, OF_ENGINE] = [
    [`the Swarm swarm-one at ${one.endpoint}, on all nodes`, 1],
    ['the engine', 1],
  ];
  t.same(await asked('swarm', null, [swarm]), [OF_SWARM], 'at the recorded endpoint');
  t.same(await asked('swarm', one.endpoint, [external, swarm]), [OF_SWARM, OF_ENGINE]);
  t.same(await asked('swarm', one.endpoint, [{ kind: 'private', remap: false }]), [OF_SWARM]);
  t.same(await asked('auto', two.endpoint, [external]), [OF_ENGINE]);
  t.same(await asked('auto', two.endpoint, []), [['the engine', 0]]);
  t.same(await asked('kubernetes', NOWHERE, [kubernetes]), [], 'an unrelated Docker is not looked for');
  t.match(await asked('swarm', two.endpoint, [swarm]), [
    OF_SWARM,
    /^Nothing is removed from the Swarm at .*is now in the Swarm swarm-two/,
  ]);
  t.same(await asked('auto', NOWHERE, [external]), [OF_ENGINE], 'nor an engine');
  await t.rejects(asked('swarm', null, [{ ...swarm, endpoint: two.endpoint }]), {
    message:
      /the Swarm at tcp.* is not the one that .*: set DOCKER_HOST to .*, or if it is gone for good, repeat with --forget-engine swarm-one$/,
  });
  await t.rejects(asked('swarm', NOWHERE, [{ ...swarm, endpoint: NOWHERE }]), {
    message:
      /no manager of the Swarm .*: start a manager of it, or if it is gone for good, repeat with --forget-engine swarm-one$/,
  });
  await t.rejects(asked('auto', null, [{ ...external, endpoint: two.endpoint }]), {
    message: /the engine at tcp.* is not the one/,
  });
  await t.rejects(asked('auto', NOWHERE, [{ ...external, endpoint: NOWHERE }]), {
    message: /does not answer: start it, or if it is gone for good, repeat with --forget-engine engine-one/,
  });

  const goneEngine = { ...external, endpoint: NOWHERE };
  const goneSwarm = { ...swarm, endpoint: NOWHERE };
  t.same(await asked('auto', NOWHERE, [], [goneEngine]), [], 'the engine of the settings is forgotten');
  t.same(await asked('auto', NOWHERE, [], [{ ...goneEngine, endpoint: 'tcp://127.0.0.1:2' }]), [
    `Nothing is removed from the engine at ${NOWHERE}, because it does not answer.`,
  ]);
  t.same(await asked('auto', one.endpoint, [], [goneEngine]), [], 'by its id at another address');
  t.same(await asked('auto', NOWHERE, [external], [{ ...goneEngine, id: 'gone' }]), [OF_ENGINE]);
  t.match(await asked('swarm', NOWHERE, [], [goneSwarm]), [
    /^Nothing is removed from the Swarm at tcp:..127\.0\.0\.1:1, because it cannot be used: .*ECONNREFUSED/,
  ]);
  t.same(await asked('swarm', one.endpoint, [], [goneSwarm]), [], 'the forgotten Swarm answers');
  t.same(await asked('swarm', one.endpoint, [], [{ ...goneSwarm, id: 'old' }]), [OF_SWARM], 'a new Swarm');
  await t.rejects(asked('auto', NOWHERE, []), {
    message: /does not answer.*: start it, or unset DOCKER_HOST$/,
  });
});

t.test(
  'an unreachable manager still blocks an uninstall when the other manager is in another Swarm',
  async (t) => {
    const { endpoint } = await aSwarm(t, 'two');
    const asked = async (managers: readonly string[], at: string): Promise<unknown> => {
      const read = readConfig({
        BERTH_ENGINE: 'swarm',
        BERTH_SWARM_MANAGERS: managers.join(),
        BERTH_DATA_DIR: aFolder(t),
      });
      if ('faults' in read) throw new Error(read.faults.join());
      const kept = [{ kind: 'swarm', endpoint: at, id: 'swarm-one' }] as const;
      return await usedEngines(read.config, { kept, forgotten: [], oldSwarms: [] }, INSTANCE);
    };
    await t.rejects(asked([endpoint, NOWHERE], endpoint), {
      message:
        /OtherSwarm: .*; tcp:..127\.0\.0\.1:1: .*: start a manager of it, or if it is gone for good, repeat with/,
    });
    await t.rejects(asked([endpoint], endpoint), {
      message: /is not the one that .*: set BERTH_SWARM_MANAGERS to an address of that one/,
    });
  },
);

t.test('addresses of managers that are not used are named, also after one that is', async (t) => {
  const [one, two] = [await aSwarm(t, 'one'), await aSwarm(t, 'two')];
  const asked = async (
    managers: readonly string[],
    kept: readonly string[],
    forgotten: readonly string[],
  ) => {
    const read = readConfig({
      BERTH_ENGINE: 'swarm',
      BERTH_SWARM_MANAGERS: managers.join(),
      BERTH_SWARM_NODE_URL: one.endpoint.replace('tcp:', 'http:'),
      BERTH_DATA_DIR: aFolder(t),
    });
    if ('faults' in read) throw new Error(read.faults.join());
    const recordOf = (id: string) => ({ kind: 'swarm', endpoint: NOWHERE, id }) as const;
    const records = { kept: kept.map(recordOf), forgotten: forgotten.map(recordOf), oldSwarms: [] };
    const { engines, skippedMessages } = await usedEngines(read.config, records, INSTANCE);
    t.equal(engines.length, 1);
    return skippedMessages;
  };
  const nowhere = 'tcp://127.0.0.1:2';
  const SILENT =
    /^The manager at tcp:..127\.0\.0\.1:2 cannot be used: .*ECONNREFUSED.*nothing is removed there/;
  const OTHER = /^Nothing is removed from the Swarm at tcp.*is now in the Swarm swarm-two/;
  t.same(await asked([one.endpoint], ['swarm-one'], []), []);
  t.match(await asked([nowhere, one.endpoint, two.endpoint], ['swarm-one'], []), [SILENT, OTHER]);
  t.match(await asked([one.endpoint, nowhere], [], []), [SILENT], 'of a Swarm that is not recorded');
  t.match(await asked([nowhere, two.endpoint, one.endpoint], [], ['swarm-two']), [SILENT]);
});

t.test('nothing is removed from a Swarm that the installation has left, unless it is named', async (t) => {
  const [left, own, third] = [await aSwarm(t, 'left'), await aSwarm(t, 'own'), await aSwarm(t, 'third')];
  const label = { 'berth.instance': 'an-installation' };
  for (const { volumes } of [left, own]) volumes.set('ws-one', { Name: 'ws-one', Labels: label });
  const nodes = { left: left.url, own: own.url, third: third.url };
  const recordOf = ({ endpoint }: typeof left, id: string) => ({ kind: 'swarm', endpoint, id }) as const;
  const both = [recordOf(left, 'swarm-left'), recordOf(own, 'swarm-own')];
  const asked = async (
    manager: typeof left,
    swarmId: string | null,
    oldSwarms: readonly string[] = [],
    kept: readonly RecordedElsewhere[] = both,
    forgotten: readonly RecordedElsewhere[] = [],
  ) => {
    const read = readConfig({
      BERTH_ENGINE: 'swarm',
      DOCKER_HOST: manager.endpoint,
      BERTH_SWARM_NODES: JSON.stringify(nodes),
      BERTH_DATA_DIR: aFolder(t),
    });
    if ('faults' in read) throw new Error(read.faults.join());
    const records = withOldSwarms({ kept, forgotten, oldSwarms }, read.config);
    const { engines, skippedMessages } = await usedEngines(read.config, records, {
      ...INSTANCE,
      swarmId: swarmId === 'none' ? null : swarmId,
      hasLeftSwarms: swarmId === 'none',
    });
    return [engines.map(({ name }) => name), skippedMessages] as const;
  };
  const named = ({ endpoint }: typeof left, id: string) => `the Swarm ${id} at ${endpoint}, on all nodes`;
  const [ofLeft, ofOwn] = [named(left, 'swarm-left'), named(own, 'swarm-own')];
  const LEFT = new RegExp(
    `^Nothing is removed from the Swarm swarm-left at ${left.endpoint}, which .* has left.*--old-swarm swarm-left\\.$`,
  );
  const [engines, skipped] = await asked(own, 'swarm-own');
  t.strictSame(engines, [ofOwn]);
  t.match(skipped, [LEFT]);
  t.strictSame(await asked(own, 'swarm-own', ['swarm-left']), [[ofLeft, ofOwn], []]);
  t.match(await asked(third, 'swarm-third'), [
    [named(third, 'swarm-third')],
    [LEFT, /the Swarm swarm-own at/],
  ]);
  await t.rejects(asked(own, 'swarm-third'), {
    message: /Swarm swarm-third.*run berth use-swarm --id none$/,
  });
  const [noId] = both.map(({ kind, endpoint }) => ({ kind, endpoint }));
  await t.rejects(asked(left, 'swarm-own', [], noId === undefined ? [] : [noId]), {
    message: /is not the one/,
  });
  const gone = recordOf(own, 'swarm-own');
  t.match(await asked(left, 'swarm-own', [], both.slice(0, 1), [gone]), [[], [LEFT]], 'its own is gone');
  t.match(await asked(own, 'none'), [[], [LEFT, /the Swarm swarm-own at/]]);
  t.match(await asked(own, 'none', [], []), [[], [/Swarms that this installation has left.*--old-swarm/]]);
  t.strictSame(await asked(left, 'none', ['swarm-left'], []), [[ofLeft], []], 'without a record');
  await t.rejects(asked(own, 'none', ['swarm-left'], []), { message: /is not the one/ });
  t.strictSame(await asked(own, null), [[ofLeft, ofOwn], []], 'before the first record');
});

t.test('the base image of an engine stays while another installation uses the engine', async (t) => {
  const engine = await aSwarm(t, 'one');
  const read = readConfig({ BERTH_DATA_DIR: aFolder(t) });
  if ('faults' in read) throw new Error(read.faults.join());
  const remove = async () => {
    const kept = [{ kind: 'external', endpoint: engine.endpoint }] as const;
    const used = await usedEngines(read.config, { kept, forgotten: [], oldSwarms: [] }, INSTANCE);
    return await Promise.all(used.engines.map((each) => each.remove()));
  };
  engine.networks.set('other', { Name: 'other', Labels: { 'berth.instance': 'another-installation' } });
  t.same(await remove(), [['The base image stays: another installation uses the engine.']]);
  t.same(engine.removedImages, []);
  engine.behaviour.refusesNetworks = true;
  t.match(await remove(), [[/^The base image may stay: .*nothing is listed/]]);
  engine.behaviour.refusesNetworks = false;
  engine.networks.clear();
  t.same(await remove(), [[]]);
  t.equal(engine.removedImages.length, 1);
});
