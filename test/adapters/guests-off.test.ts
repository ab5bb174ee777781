import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { freshDatabase, run } from '../support/database.ts';
import { storedUser } from '../support/stored.ts';

/** A database, and what its guests are allowed once it was brought up to date. */
async function anInstallation(t: Test) {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const storage = postgresStorage(db);
  const upgraded = async (): Promise<boolean> => {
    await run(url, readFileSync('db/migrations/0030_guests_off.sql', 'utf8'));
    return (await storage.repositories.settings.read()).guestsEnabled;
  };
  return { storage, upgraded };
}

t.test('an upgrade leaves guests as they were, and a new installation starts without them', async (t) => {
  const fresh = await anInstallation(t);
  if (fresh === null) return;
  t.equal(await fresh.upgraded(), false, 'nobody uses it yet');

  const untouched = await anInstallation(t);
  if (untouched === null) return;
  await storedUser(untouched.storage);
  t.equal(await untouched.upgraded(), true, 'in use, with the setting as it came');

  const chosen = await anInstallation(t);
  if (chosen === null) return;
  await storedUser(chosen.storage);
  await chosen.storage.repositories.settings.change({ guestsEnabled: false });
  t.equal(await chosen.upgraded(), false, 'an administrator had turned them off');
});
