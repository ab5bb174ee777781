import { signedIn, test } from '../../../support/browser/memory-page.ts';
import { storedUser } from '../../../support/database/stored.ts';
import { anAdmin, as } from '../../../support/service/service.ts';

/** More than one page of the service. */
const COUNT = 60;

test('all open invitations are listed, and each can be withdrawn', async (t, browser, paged) => {
  const call = as(paged.service, await anAdmin(paged.service));
  for (let index = 0; index < COUNT; index += 1)
    await call('POST', '/api/admin/invitations', { email: `friend-${index}@example.org` });
  for (let index = 1; index < COUNT; index += 1) {
    const { id } = (await call('POST', '/api/admin/invitations', {})).json();
    await call('DELETE', `/api/admin/invitations/${id}`);
  }
  const { page, faults } = await signedIn(browser, paged, 'root', '/admin');
  const first = page.getByRole('listitem').filter({ hasText: 'friend-0@example.org' });
  await first.getByRole('button', { name: 'Withdraw' }).click();
  await first.waitFor({ state: 'detached' });
  t.equal(await page.getByRole('button', { name: 'Withdraw' }).count(), COUNT - 1);
  t.same(faults, []);
});

test('what “Show more” has loaded stays when the list is read again', async (t, browser, paged) => {
  await anAdmin(paged.service);
  for (let index = 0; index < COUNT; index += 1)
    await storedUser(paged.service.ports.storage, { username: `user-${index}` });
  const { page, faults } = await signedIn(browser, paged, 'root', '/admin');
  const rows = page.locator('.people tbody tr');
  await page.getByRole('button', { name: 'Show more' }).click();
  await rows.nth(COUNT).waitFor();
  await page.getByRole('button', { name: 'More for user-5', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('user-5 is deleted').waitFor();
  await rows.filter({ hasText: /^user-5\b/ }).waitFor({ state: 'detached' });
  t.equal(await rows.count(), COUNT);
  t.same(faults, []);
});
