import type { Page } from 'playwright-core';
import { focusedName, signedIn, test } from '../../../support/browser/memory-page.ts';
import { anAdmin } from '../../../support/service/service.ts';

const palette = (page: Page) => page.getByRole('dialog', { name: 'Command palette' });
const current = (page: Page): Promise<string> =>
  palette(page).locator('[aria-selected=true] > span').innerText();

/** Opens the palette, types, and runs the best match. */
async function runs(page: Page, text: string, label: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await palette(page).getByRole('option').first().waitFor();
  await page.keyboard.insertText(text);
  await palette(page).locator('[aria-selected=true]', { hasText: label }).waitFor();
  await page.keyboard.press('Enter');
  await palette(page).waitFor({ state: 'detached' });
}

test('the palette reaches containers, pages and actions by keyboard alone', async (t, browser, paged) => {
  const root = await anAdmin(paged.service);
  for (const name of ['calm-bay', 'web-api']) await paged.container(root, name);
  const { page, faults } = await signedIn(browser, paged, 'root');
  await page.getByRole('link', { name: 'calm-bay' }).waitFor();

  await page.keyboard.press('Control+k');
  const field = palette(page).getByRole('combobox');
  await palette(page).getByRole('option', { name: 'web-api' }).waitFor();
  t.equal(await field.getAttribute('aria-expanded'), 'true');
  const active = await field.getAttribute('aria-activedescendant');
  t.equal(await palette(page).locator('[aria-selected=true]').getAttribute('id'), active);
  const before = await current(page);
  await page.keyboard.press('ArrowDown');
  t.not(await current(page), before);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  t.equal(await current(page), 'Sign out', 'the arrows go round');
  await page.keyboard.type('nothing like that');
  await palette(page).getByText('No results.').waitFor();
  await page.keyboard.press('Escape');
  await palette(page).waitFor({ state: 'detached' });

  await runs(page, 'stop calm', 'calm-bay · Stop…');
  await page.getByRole('dialog', { name: 'Stop calm-bay?' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('stopped', { exact: true }).waitFor();
  await runs(page, 'calm start', 'calm-bay · Start');
  await page.getByText('stopped', { exact: true }).waitFor({ state: 'detached' });
  await runs(page, 'web settings', 'web-api · Settings…');
  await page.getByRole('dialog', { name: 'Settings of web-api' }).waitFor();
  await page.keyboard.press('Escape');
  await runs(page, 'web delete', 'web-api · Delete…');
  await page.getByRole('dialog', { name: 'Delete web-api?' }).waitFor();
  await page.keyboard.press('Tab');
  t.equal(await focusedName(page), 'Delete');
  await page.keyboard.press('Enter');
  await page.getByText('web-api is deleted').waitFor();
  await runs(page, 'recently', 'Recently deleted');
  await page.getByRole('heading', { level: 1, name: 'Recently deleted' }).waitFor();
  await page.getByRole('button', { name: 'Restore web-api' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('There are no deleted containers').waitFor();

  await runs(page, 'audit', 'Administration · Audit');
  await page.getByRole('heading', { level: 2, name: 'Audit' }).waitFor();
  await runs(page, 'theme dark', 'Theme · Dark');
  t.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
  await runs(page, 'new container', 'New container');
  await page.getByRole('dialog', { name: 'New container' }).waitFor();
  t.same(faults, []);
});
