import t from 'tap';
import { DEFAULT_SETTINGS } from '../../src/domain/settings.ts';
import type { Storage } from '../../src/ports/repositories.ts';

/** What keeping settings must guarantee. They are as they were when it is done. */
export async function settingsRepositoryContract(
  name: string,
  { repositories, inTransaction }: Storage,
): Promise<void> {
  const { settings } = repositories;

  await t.test(`${name}: settings are the defaults until they are changed, one by one`, async (t) => {
    t.same(await settings.read(), DEFAULT_SETTINGS);
    const changed = await settings.change({ openRegistration: !DEFAULT_SETTINGS.openRegistration });
    t.same(changed, { ...DEFAULT_SETTINGS, openRegistration: !DEFAULT_SETTINGS.openRegistration });
    t.same(await settings.change({}), changed);
    t.same(await settings.change({ sessionIdleMinutes: 77 }), { ...changed, sessionIdleMinutes: 77 });
    t.same(await settings.read(), { ...changed, sessionIdleMinutes: 77 });
    t.same(await settings.change(DEFAULT_SETTINGS), DEFAULT_SETTINGS);
  });

  await t.test(`${name}: a change that is undone was never made`, async (t) => {
    const failing = inTransaction(async (tx) => {
      await tx.settings.change({ sessionIdleMinutes: 99 });
      throw new Error('no');
    });
    await t.rejects(failing, { message: 'no' });
    t.same(await settings.read(), DEFAULT_SETTINGS);
  });
}
