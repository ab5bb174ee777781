import type { Page } from 'playwright-core';
import t from 'tap';
import { aScene, focusedName, signedIn, test } from '../../../support/browser/memory-page.ts';
import { storedContainer } from '../../../support/database/stored.ts';
import { waitFor } from '../../../support/patience.ts';
import { anAdmin, as } from '../../../support/service/service.ts';
import { fakeTerminals } from '../../../support/terminal/terminals.ts';

const palette = (page: Page) => page.getByRole('dialog', { name: 'Command palette' });
const current = (page: Page): Promise<string> =>
  palette(page).locator('[aria-selected=true] > span').innerText();

/** Opens the palette, types, and runs the best match. */
async function runs(page: Page, text: string, label: string, keys = 'Control+k'): Promise<void> {
  await page.keyboard.press(keys);
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

/** What opens a dialog of another page: text to find it, its name, and the dialog. */
const DIALOGS = [
  ['invite', 'Invite a person', 'Invite a person'],
  ['api token', 'New API token', 'New API token'],
  ['sign out other', 'Sign out all other sessions', 'Sign out everywhere else?'],
  ['add tier', 'Add a tier', 'Add a tier'],
  ['add image', 'Add an image', 'Add an image'],
  ['add tool', 'Add a toolset', 'Add a toolset'],
  ['announce', 'New announcement', 'New announcement'],
] as const;

test('the palette opens the dialogs of all pages, from any page', async (t, browser, paged) => {
  const root = await anAdmin(paged.service);
  const by = as(paged.service, root);
  const id = await paged.container(root, 'calm-bay');
  await by('PATCH', `/api/containers/${id}/lifetime`, { ttl_seconds: 600 });
  for (const name of ['old-bay', 'lost-bay']) {
    await by('DELETE', `/api/containers/${await paged.container(root, name)}`);
  }
  const { page, faults } = await signedIn(browser, paged, 'root');
  for (const [text, label, title] of DIALOGS) {
    await runs(page, text, label);
    await page.getByRole('dialog', { name: title }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await runs(page, 'invite', 'Invite a person');
  await page.getByRole('dialog', { name: 'Invite a person' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await runs(page, 'invite', 'Invite a person');
  await page.getByRole('dialog', { name: 'Invite a person' }).waitFor();
  await page.keyboard.press('Escape');

  await runs(page, 'keep calm', 'calm-bay · Keep 1 h');
  await page.getByText('calm-bay is kept for 1 h').waitFor();
  await runs(page, 'restore old', 'old-bay · Restore');
  await waitFor(async () => (await by('GET', '/api/containers?q=old-bay')).json().total === 1);
  await runs(page, 'permanently lost', 'lost-bay · Delete permanently…');
  await page.getByRole('dialog', { name: 'Delete lost-bay permanently?' }).waitFor();
  await page.keyboard.type('lost-bay');
  await page.keyboard.press('Enter');
  await page.getByText('lost-bay is permanently deleted').waitFor();
  await runs(page, 'command line', 'Command line');
  await page.getByRole('heading', { level: 2, name: 'API tokens' }).waitFor();
  await runs(page, 'version', 'Copy version');
  await page.getByText('Version copied').waitFor();
  t.same(faults, []);
});

t.test('the palette acts on the open terminal', async (t) => {
  const terminals = fakeTerminals();
  const scene = await aScene(t, { terminalBackend: terminals });
  if (scene === null) return;
  const { browser, paged } = scene;
  const root = await anAdmin(paged.service);
  const id = await paged.container(root, 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, 'root', `/containers/${id}`);
  const acts = (text: string, label: string) => runs(page, text, label, 'Control+Shift+K');
  await waitFor(() => terminals.opened.length === 1);
  terminals.opened[0]?.say('ready\r\n');
  await page.locator('.xterm-rows > div', { hasText: 'ready' }).waitFor();
  const size = () => page.locator('.line-facts > span').last().innerText();
  const before = await size();

  await acts('split right', 'Split right');
  await waitFor(() => terminals.opened.length === 2);
  await page.locator('.pane.opened:focus-within .xterm').waitFor();
  await page.keyboard.type('x');
  await waitFor(() => terminals.opened[1]?.typed().endsWith('x') === true);
  await acts('close', 'Close pane');
  await page.locator('.pane').nth(1).waitFor({ state: 'detached' });

  await acts('search output', 'Search the output');
  await page.keyboard.type('ready');
  await page.getByText('1 of 1').waitFor();
  await page.keyboard.press('Escape');
  await acts('larger', 'Larger text');
  await waitFor(async () => (await size()) !== before);
  await acts('record this', 'Record this terminal');
  await page.getByRole('button', { name: 'Stop recording' }).waitFor();
  await acts('share', 'Share this terminal');
  await page.getByRole('dialog', { name: 'Share the terminal of calm-bay' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'All containers' }).click();
  await page.getByRole('heading', { level: 1, name: 'Containers' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText('split');
  await palette(page).getByRole('status').waitFor();
  t.equal(
    await palette(page).getByRole('option', { name: 'Split right' }).count(),
    0,
    'gone with the terminal',
  );
  t.same(faults, []);
});

test('the palette acts on a container that it has not loaded, whatever else is typed', async (t, browser, paged) => {
  const root = await anAdmin(paged.service);
  await storedContainer(paged.service.ports.storage, root.id, { name: 'db1' });
  paged.clock.advance(1_000);
  for (let index = 0; index < 210; index += 1)
    await storedContainer(paged.service.ports.storage, root.id, { name: `box-${index}` });
  const { page, faults } = await signedIn(browser, paged, 'root');
  await runs(page, 'db1 delete', 'db1 · Delete…');
  await page.getByRole('dialog', { name: 'Delete db1?' }).waitFor();
  t.same(faults, []);
});
