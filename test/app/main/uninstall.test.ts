import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { readConfig } from '../../../src/app/main/config.ts';
import type { Outcome } from '../../../src/app/main/outcome.ts';
import { uninstall } from '../../../src/app/main/uninstall/uninstall.ts';
import { freshDatabase } from '../../support/database/database.ts';
import { aFolder } from '../../support/folder.ts';

const EXTERNAL = JSON.stringify({ kind: 'external', endpoint: 'unix:///nowhere/docker.sock' });

/** Removes a data folder with these files, by default without questions. */
async function removed(
  t: Test,
  files: readonly string[],
  confirm = async (_dataDir: string) => true,
): Promise<{ outcome: Outcome; dataDir: string }> {
  const dataDir = path.join(aFolder(t), 'data');
  for (const name of files) {
    mkdirSync(path.dirname(path.join(dataDir, name)), { recursive: true });
    writeFileSync(path.join(dataDir, name), name === 'engine/engine.json' ? EXTERNAL : '');
  }
  const read = readConfig({ BERTH_DATA_DIR: dataDir });
  if ('faults' in read) throw new Error(read.faults.join());
  return { outcome: await uninstall(read.config, aFolder(t), () => confirm(dataDir)), dataDir };
}

t.test('an interrupted removal and a failed first start are uninstalled without a database', async (t) => {
  const lefts = {
    'during its files': ['lock', 'replica', 'recordings/one', 'secret.json', 'postgres/half'],
    'during its database': ['lock', 'replica', 'postgres.removed/pgdata/PG_VERSION'],
    'after its database': ['lock', 'replica'],
    'before the last file': ['lock'],
    'a first start without a database': ['lock', 'replica', 'postgres/postgres.log', 'engine/engine.json'],
  };
  for (const [what, files] of Object.entries(lefts)) {
    const { outcome, dataDir } = await removed(t, files);
    t.match(outcome, { code: 0, says: /is uninstalled/ }, what);
    t.notOk(existsSync(dataDir), what);
  }
});

t.test('what is left in an engine is not abandoned: without its database nothing is removed', async (t) => {
  const files = ['lock', 'replica', 'engine/engine.json'];
  const { outcome, dataDir } = await removed(t, files);
  t.match(outcome, { code: 78, says: /has no database/ });
  t.same(readdirSync(dataDir).toSorted(), ['engine', 'lock', 'replica']);
});

t.test('with settings of another engine than the one that was used nothing is removed', async (t) => {
  for (const [kinds, BERTH_ENGINE, refusal] of [
    ['external+swarm', undefined, /set BERTH_ENGINE=swarm/],
    ['swarm', undefined, /tcp:..10\.0\.0\.1:2376: set BERTH_ENGINE=swarm/],
    ['swarm', 'kubernetes', /set BERTH_ENGINE=swarm/],
    ['kubernetes', 'auto', /set BERTH_ENGINE=kubernetes/],
    ['external', 'swarm', /unset BERTH_ENGINE/],
    ['private', 'kubernetes', /private engine in .*: unset BERTH_ENGINE/],
    ['private', 'swarm', /unset BERTH_ENGINE/],
    ['private', undefined, null],
    ['private+swarm', 'swarm', null],
    ['external+swarm', 'swarm', null],
    ['swarm', 'swarm', null],
    ['external', 'external', null],
  ] as const) {
    const dataDir = path.join(aFolder(t), 'data');
    mkdirSync(path.join(dataDir, 'engine'), { recursive: true });
    // As with a database that the settings do not name, or one that never started.
    mkdirSync(path.join(dataDir, 'postgres'));
    for (const name of ['lock', 'replica']) writeFileSync(path.join(dataDir, name), '');
    const records = kinds.split('+').map((kind) => ({ kind, endpoint: 'tcp://10.0.0.1:2376' }));
    writeFileSync(path.join(dataDir, 'engine/engine.json'), JSON.stringify(records));
    const read = readConfig({ BERTH_DATA_DIR: dataDir, ...(BERTH_ENGINE && { BERTH_ENGINE }) });
    if ('faults' in read) throw new Error(read.faults.join());
    const outcome = await uninstall(read.config, aFolder(t), async () => false);
    t.match(
      outcome,
      refusal === null ? { code: 1, says: 'Nothing was removed.' } : { code: 78, says: refusal },
    );
    t.ok(existsSync(path.join(dataDir, 'engine/engine.json')));
  }
});

t.test('the list is of the engines that were used, whatever the settings say', async (t) => {
  const written = t.capture(process.stdout, 'write', process.stdout.write);
  for (const [kinds, isListed, forgotten, BERTH_ENGINE = 'kubernetes'] of [
    ['private+kubernetes', true],
    ['kubernetes', false],
    ['swarm+kubernetes', false, ['old']],
    ['private+kubernetes', true, ['tcp://10.0.0.1:2376'], 'auto'],
  ] as const) {
    const dataDir = path.join(aFolder(t), 'data');
    for (const name of ['engine', 'postgres']) mkdirSync(path.join(dataDir, name), { recursive: true });
    for (const name of ['lock', 'replica']) writeFileSync(path.join(dataDir, name), '');
    const records = kinds.split('+').map((kind) => ({
      kind,
      remap: false,
      endpoint: 'tcp://10.0.0.1:2376',
      ...(kind === 'swarm' && { id: 'old' }),
    }));
    writeFileSync(path.join(dataDir, 'engine/engine.json'), JSON.stringify(records));
    const read = readConfig({ BERTH_DATA_DIR: dataDir, BERTH_ENGINE });
    if ('faults' in read) throw new Error(read.faults.join());
    await uninstall(read.config, aFolder(t), async () => false, { forgotten });
    const said = written()
      .map(({ args }) => String(args[0]))
      .join('');
    t.equal(said.includes('what a failed first start'), isListed, kinds);
    const isForgotten = /from the (Swarm old|cluster tcp:..10.0.0.1:2376) at tcp:..10\.0\.0\.1:2376\./.test(
      said,
    );
    t.equal(isForgotten, forgotten !== undefined, kinds);
    t.match(said, /Pods, volumes and secrets in the cluster stay/);
  }
});

t.test('an engine that is gone for good is left out by its name', async (t) => {
  const records = [
    { kind: 'swarm', endpoint: 'tcp://10.0.0.1:2376', id: 'old' },
    { kind: 'swarm', endpoint: 'tcp://10.0.0.1:2376', id: 'new' },
    { kind: 'external', endpoint: 'unix:///nowhere.sock' },
  ];
  const dataDir = path.join(aFolder(t), 'data');
  for (const name of ['engine', 'postgres']) mkdirSync(path.join(dataDir, name), { recursive: true });
  for (const name of ['lock', 'replica']) writeFileSync(path.join(dataDir, name), '');
  writeFileSync(path.join(dataDir, 'engine/engine.json'), JSON.stringify(records));
  const asked = async (forgotten: readonly string[], BERTH_ENGINE = 'swarm') => {
    const read = readConfig({ BERTH_DATA_DIR: dataDir, BERTH_ENGINE });
    if ('faults' in read) throw new Error(read.faults.join());
    return await uninstall(read.config, aFolder(t), async () => false, { forgotten });
  };
  t.match(await asked(['old', 'other']), {
    code: 64,
    says: /engine named other\. It has used: old, new, unix:...nowhere\.sock\.$/,
  });
  const left = { oldSwarms: ['unix:///nowhere.sock'] };
  const read = readConfig({ BERTH_DATA_DIR: dataDir, BERTH_ENGINE: 'swarm' });
  if ('faults' in read) throw new Error(read.faults.join());
  t.match(await uninstall(read.config, aFolder(t), async () => false, left), {
    code: 64,
    says: /--old-swarm: .* a Swarm named unix:...nowhere\.sock\. It has used: old, new\. For a Swarm whose record was deleted, set/,
  });
  const withManagers = readConfig({
    BERTH_DATA_DIR: dataDir,
    BERTH_ENGINE: 'swarm',
    BERTH_SWARM_MANAGERS: 'tcp://10.0.0.1:2375',
  });
  if ('faults' in withManagers) throw new Error(withManagers.faults.join());
  t.match(
    await uninstall(withManagers.config, aFolder(t), async () => false, { oldSwarms: ['not-recorded'] }),
    { code: 1, says: 'Nothing was removed.' },
    'the managers of the settings are asked for it',
  );
  t.match(await asked([], 'auto'), {
    code: 78,
    says: /or if it is gone for good, repeat with --forget-engine old$/,
  });
  t.match(await asked(['old'], 'auto'), {
    code: 78,
    says: /or if it is gone for good, repeat with --forget-engine new$/,
  });
  t.match(await asked(['old', 'new'], 'auto'), { code: 1, says: 'Nothing was removed.' });
  t.match(await asked(['old']), { code: 1, says: 'Nothing was removed.' });
  t.ok(existsSync(path.join(dataDir, 'engine/engine.json')));
});

t.test('a Swarm of the settings that cannot be used is named before anything is removed', async (t) => {
  const DATABASE_URL = await freshDatabase(t);
  if (DATABASE_URL === null) return;
  const endpoint = 'tcp://127.0.0.1:1';
  const dataDir = path.join(aFolder(t), 'data');
  mkdirSync(path.join(dataDir, 'engine'), { recursive: true });
  for (const name of ['lock', 'replica']) writeFileSync(path.join(dataDir, name), '');
  const records = [{ kind: 'swarm', endpoint, id: 'old' }];
  writeFileSync(path.join(dataDir, 'engine/engine.json'), JSON.stringify(records));
  const settings = { BERTH_DATA_DIR: dataDir, BERTH_ENGINE: 'swarm', DOCKER_HOST: endpoint };
  const read = readConfig({ ...settings, DATABASE_URL });
  if ('faults' in read) throw new Error(read.faults.join());
  const written = t.capture(process.stdout, 'write', process.stdout.write);
  await uninstall(read.config, aFolder(t), async () => false, { forgotten: ['old'] });
  t.match(
    written()
      .map(({ args }) => String(args[0]))
      .join(''),
    `Nothing is removed from the Swarm at ${endpoint}, because it cannot be used`,
  );
});

t.test('without a yes nothing is removed, and with it nothing of others', async (t) => {
  const files = ['lock', 'replica', 'secret.json', 'mine.txt'];
  const asked = await removed(t, files, async () => false);
  t.match(asked.outcome, { code: 1, says: 'Nothing was removed.' });
  t.same(readdirSync(asked.dataDir).toSorted(), files.toSorted());
  const { outcome, dataDir } = await removed(t, files);
  t.match(outcome, { code: 0, says: /Not from Berth.*: mine\.txt/ });
  t.same(readdirSync(dataDir), ['mine.txt']);
});

t.test('while Berth runs nothing is removed', async (t) => {
  const again: Outcome[] = [];
  await removed(t, ['lock', 'replica', 'secret.json'], async (dataDir) => {
    const read = readConfig({ BERTH_DATA_DIR: dataDir });
    if ('faults' in read) throw new Error(read.faults.join());
    again.push(await uninstall(read.config, aFolder(t), async () => true));
    return false;
  });
  t.match(again, [{ code: 1, says: 'Berth is running: stop it first' }]);
});
