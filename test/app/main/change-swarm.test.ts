import t from 'tap';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { postgresInstallation } from '../../../src/adapters/postgres/installation-repository.ts';
import { keepPresence, presentFrom } from '../../../src/adapters/postgres/notification-listener.ts';
import { readConfig } from '../../../src/app/main/config.ts';
import { changeSwarm } from '../../../src/app/main/database/change-swarm.ts';
import { freshDatabase } from '../../support/database/database.ts';
import { aFolder } from '../../support/folder.ts';
import { waitFor } from '../../support/patience.ts';

t.test('a command changes the Swarm of an installation that does not run', async (t) => {
  const url = await freshDatabase(t);
  if (url === null) return;
  const read = readConfig({ DATABASE_URL: url, BERTH_DATA_DIR: aFolder(t) });
  if ('faults' in read) throw new Error(read.faults.join());
  const { config } = read;
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const installation = postgresInstallation(db);
  for (const id of [undefined, '', 'not an id']) t.match(await changeSwarm(config, id), { code: 64 });
  t.equal(await installation.swarmId(), null);
  t.match(await changeSwarm(config, 'one'), { code: 0, says: /the Swarm one from its next start\.$/ });
  t.match(await changeSwarm(config, 'two'), { code: 0, says: /containers of the Swarm one stay there/ });
  t.equal(await installation.swarmId(), 'two');

  const presence = keepPresence(url, { info: () => {}, warn: () => {}, error: () => {} });
  await waitFor(async () => (await presentFrom(db)).length > 0);
  t.match(await changeSwarm(config, 'three'), { code: 1, says: /stop all its processes first/ });
  t.equal(await installation.swarmId(), 'two');
  await presence.close();
  await waitFor(async () => (await presentFrom(db)).length === 0);
  t.match(await changeSwarm(config, 'none'), { code: 0, says: /^No Swarm is recorded/ });
  t.equal(await installation.swarmId(), null);
});

t.test('without a database no Swarm is changed', async (t) => {
  const read = readConfig({ BERTH_DATA_DIR: aFolder(t) });
  if ('faults' in read) throw new Error(read.faults.join());
  t.match(await changeSwarm(read.config, 'one'), { code: 78, says: /has no database/ });
});
