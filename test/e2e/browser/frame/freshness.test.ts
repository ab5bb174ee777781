import type { Page } from 'playwright-core';
import { signedIn, test } from '../../../support/browser/memory-page.ts';
import { anAdmin, aPerson, as } from '../../../support/service/service.ts';

const palette = (page: Page) => page.getByRole('dialog', { name: 'Command palette' });

/** Runs the best match of the palette. */
async function run(page: Page, text: string, label: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await palette(page).getByRole('option').first().waitFor();
  await page.keyboard.insertText(text);
  await palette(page).locator('[aria-selected=true]', { hasText: label }).waitFor();
  await page.keyboard.press('Enter');
}

test('a dialog that the palette opened follows its container', async (t, browser, paged) => {
  const id = await paged.container(await aPerson(paged.service, 'ada'), 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, 'ada', '/settings');
  await page.getByLabel('Username').waitFor();
  await run(page, 'calm disk', 'calm-bay · Disk use…');
  const dialog = page.getByRole('dialog', { name: 'Disk use of calm-bay' });
  await dialog.getByText('Files in /workspace.').waitFor();
  await paged.holds(id, 2049);
  await dialog.getByText('2049 of 2048 MB').first().waitFor();
  t.same(faults, []);
});

const ALPINE = { key: 'alpine', label: 'Alpine', reference: 'alpine:3.20', digest: null, shell: '/bin/ash' };
const SMALL = { memory_mb: 256, cpu_shares: 100, disk_mb: 1000 };
const LOW = {
  memory_mb: { min: 64, max: 512 },
  cpu_shares: { min: 10, max: 200 },
  disk_mb: { min: 64, max: 1000 },
};

test('changes of the catalogue reach an open page', async (t, browser, paged) => {
  const root = as(paged.service, await anAdmin(paged.service));
  const { page, faults } = await signedIn(browser, paged, 'root');
  await page.getByText('No containers yet').waitFor();
  t.equal((await root('POST', '/api/admin/images', ALPINE)).statusCode, 201);
  await root('POST', '/api/containers', { name: 'dev', image: 'alpine', ...SMALL });
  await page.getByText('Alpine · Standard').waitFor();

  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'New container' });
  await dialog.getByText('Medium').waitFor();
  await page.keyboard.press('Escape');
  await root('PATCH', '/api/admin/tiers/enterprise', LOW);
  await page.keyboard.press('n');
  await dialog.getByText('512 MB').first().waitFor();
  await dialog.getByLabel('Name').fill('next');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/containers\//);
  t.same(faults, []);
});

test('administrators who give up their own rights are offered no way back', async (t, browser, paged) => {
  const root = as(paged.service, await anAdmin(paged.service));
  const ada = await aPerson(paged.service, 'ada');
  await root('PATCH', `/api/admin/users/${ada.id}`, { role: 'admin' });
  const { page } = await signedIn(browser, paged, 'root', '/admin');
  await page.getByRole('button', { name: 'More for root' }).click();
  await page.getByRole('menuitem', { name: 'Remove administrator rights…' }).click();
  await page.getByRole('button', { name: 'Remove rights' }).click();
  await page.getByText('root is now a user').waitFor();
  t.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0);
});

test('a choice of colours or rows applies to all tabs', async (t, browser, paged) => {
  await paged.container(await anAdmin(paged.service), 'calm-bay');
  const { page: first } = await signedIn(browser, paged, 'root');
  const second = await first.context().newPage();
  await second.goto(paged.address);
  for (const page of [first, second]) await page.getByRole('link', { name: 'calm-bay' }).waitFor();
  // A key that is held down acts once.
  await first.keyboard.down('c');
  for (let repeats = 0; repeats < 3; repeats += 1) await first.keyboard.down('c');
  await first.keyboard.up('c');
  for (const page of [first, second]) await page.locator('.rows.compact').waitFor();
  await first.getByRole('button', { name: 'root' }).click();
  await first.getByRole('menuitemradio', { name: 'Dark' }).click();
  await second.locator('html[data-theme=dark]').waitFor();

  await second.keyboard.down('n');
  const name = second.getByRole('dialog', { name: 'New container' }).getByLabel('Name');
  await name.and(second.locator(':focus')).waitFor();
  const suggested = await name.inputValue();
  await second.keyboard.down('n');
  await second.keyboard.up('n');
  await second.keyboard.press('End');
  await second.keyboard.type('n');
  t.equal(await name.inputValue(), `${suggested}n`);
});

test('what one tab dismisses stays dismissed in all', async (t, browser, paged) => {
  const root = as(paged.service, await anAdmin(paged.service));
  for (const text of ['Read this.', 'Read that.']) await root('POST', '/api/admin/announcements', { text });
  const { page: first } = await signedIn(browser, paged, 'root');
  const second = await first.context().newPage();
  await second.goto(paged.address);
  const banner = (page: Page, text: string) => page.locator('.announcement', { hasText: text });
  const dismiss = async (page: Page, text: string): Promise<void> => {
    await banner(page, text).getByRole('button', { name: 'Dismiss' }).click();
    await banner(page, text).waitFor({ state: 'detached' });
  };
  for (const page of [first, second]) await banner(page, 'Read that.').waitFor();
  await dismiss(first, 'Read this.');
  await banner(second, 'Read this.').waitFor({ state: 'detached' });
  await dismiss(second, 'Read that.');
  await banner(first, 'Read that.').waitFor({ state: 'detached' });
  await first.reload();
  await first.getByText('No containers yet').waitFor();
  t.equal(await first.locator('.announcement').count(), 0);
});
