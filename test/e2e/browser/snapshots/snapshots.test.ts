import { violationsEverywhere } from '../../../support/browser/axe.ts';
import { focusedName, signedIn, test } from '../../../support/browser/memory-page.ts';
import { waitFor } from '../../../support/patience.ts';
import { anAdmin, as } from '../../../support/service/service.ts';

test('a container is copied from its menu, and made again from the list of snapshots', async (t, browser, paged) => {
  const root = await anAdmin(paged.service);
  const dbId = await paged.container(root, 'dev');
  await paged.holds(dbId, 120, 300);
  const { page, faults } = await signedIn(browser, paged, 'root');
  const open = async (what: string) => {
    await page.getByRole('button', { name: 'More for dev' }).click();
    await page.getByRole('menuitem', { name: what }).click();
    return page.getByRole('dialog');
  };

  const dialog = await open('Snapshot…');
  await dialog.getByLabel('Name').fill('no spaces');
  await dialog.getByRole('button', { name: 'Take snapshot' }).click();
  await dialog.getByText('must be 1 to 64 letters').waitFor();
  await dialog.getByLabel('Name').fill('base');
  await dialog.getByLabel('Note').fill('before the upgrade');
  await dialog.getByRole('button', { name: 'Take snapshot' }).click();
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByText('of dev · 420 MB · taken just now · before the upgrade').waitFor();

  await page.getByRole('button', { name: 'New container from base' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('again');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.waitForURL(/\/containers\//);
  await page.goto(`${paged.address}/`);
  await page.getByRole('link', { name: 'again' }).waitFor();

  const fork = await open('Fork…');
  await fork.getByLabel('How many').selectOption('2 containers');
  await fork.getByRole('button', { name: 'Fork', exact: true }).click();
  for (const name of ['dev-copy-1', 'dev-copy-2']) await page.getByRole('link', { name }).waitFor();

  await page.getByRole('link', { name: 'Snapshots' }).click();
  await page.getByRole('button', { name: 'Delete base' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No snapshots yet').waitFor();
  t.same((await as(paged.service, root)('GET', '/api/snapshots')).json().snapshots, []);
  await page.getByText('deleted just now').waitFor();
  t.same(await violationsEverywhere(page), []);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole('button', { name: 'Restore base' }).click();
  await page.getByRole('button', { name: 'Delete base' }).waitFor();
  await waitFor(async () => (await focusedName(page)) === 'Snapshots');

  await page.evaluate('document.activeElement.blur()');
  const [{ id }] = (await as(paged.service, root)('GET', '/api/snapshots')).json().snapshots;
  await as(paged.service, root)('DELETE', `/api/snapshots/${id}`);
  await page.getByRole('button', { name: 'Restore base' }).waitFor();
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))');
  t.equal(await page.evaluate('document.activeElement.tagName'), 'BODY', 'a list read again takes no focus');
  t.equal(faults.length, 1, `nothing but the refused name: ${faults}`);
});
