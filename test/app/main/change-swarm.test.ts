import t from 'tap';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { postgresInstallation } from '../../../src/adapters/postgres/installation-repository.ts';
import { keepPresence, presentFrom } from '../../../src/adapters/postgres/notification-listener.ts';
import { readConfig } from '../../../src/app/main/config.ts';
import { changeSwarm } from '../../../src/app/main/database/change-swarm.ts';
import { freshDatabase, run } from '../../support/database/database.ts';
import { aFolder } from '../../support/folder.ts';
import { waitFor } from '../../support/patience.ts';

const [ONE, TWO, THREE] = ['1', '2', '3'].map((word) => word.padEnd(25, 'x')) as [string, string, string];

t.test('a command changes the Swarm of an installation that does not run', async (t) => {
  const url = await freshDatabase(t);
  if (url === null) return;
  const read = readConfig({ DATABASE_URL: url, BERTH_DATA_DIR: aFolder(t) });
  if ('faults' in read) throw new Error(read.faults.join());
  const { config } = read;
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const installation = postgresInstallation(db);
  for (const id of [undefined, '', 'not an id', ONE.slice(1), `${ONE}x`])
    t.match(await changeSwarm(config, id), { code: 64 });
  t.equal(await installation.swarmId(), null);
  t.match(await changeSwarm(config, ONE), {
    code: 0,
    says: `Berth uses the Swarm ${ONE} from its next start.`,
  });
  t.match(await changeSwarm(config, TWO), { code: 0, says: `containers of the Swarm ${ONE} stay there` });
  t.equal(await installation.swarmId(), TWO);

  const presence = keepPresence(url, { info: () => {}, warn: () => {}, error: () => {} });
  await waitFor(async () => (await presentFrom(db)).length > 0);
  t.match(await changeSwarm(config, THREE), { code: 1, says: /stop all its processes first/ });
  t.equal(await installation.swarmId(), TWO);
  await presence.close();
  await waitFor(async () => (await presentFrom(db)).length === 0);
  t.match(await changeSwarm(config, 'none'), {
    code: 0,
    says: /^Berth uses no Swarm .*delete engine.engine\.json/,
  });
  t.equal(await installation.swarmId(), null);
});

t.test('before the schema has a Swarm the command says what to do', async (t) => {
  const url = await freshDatabase(t);
  if (url === null) return;
  const read = readConfig({ DATABASE_URL: url, BERTH_DATA_DIR: aFolder(t) });
  if ('faults' in read) throw new Error(read.faults.join());
  await run(url, 'alter table installation drop column swarm_id');
  t.match(await changeSwarm(read.config, ONE), { code: 1, says: /run `berth migrate` first/ });
});

t.test('without a database no Swarm is changed', async (t) => {
  const read = readConfig({ BERTH_DATA_DIR: aFolder(t) });
  if ('faults' in read) throw new Error(read.faults.join());
  t.match(await changeSwarm(read.config, ONE), { code: 78, says: /has no database/ });
});
