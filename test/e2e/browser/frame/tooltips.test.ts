import type { Page } from 'playwright-core';
import { violationsOf } from '../../../support/browser/axe.ts';
import { signedIn, tabTo, test } from '../../../support/browser/memory-page.ts';
import { anAdmin } from '../../../support/service/service.ts';

const shown = (page: Page, text: string): Promise<void> =>
  page.locator('.tooltip.shown', { hasText: text }).waitFor();
const gone = (page: Page): Promise<void> => page.locator('.tooltip.shown').waitFor({ state: 'detached' });

test('buttons with an icon alone have a tooltip with their shortcut', async (t, browser, paged) => {
  const id = await paged.container(await anAdmin(paged.service), 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, 'root');
  const rows = page.getByRole('button', { name: 'Compact rows' });
  await rows.hover();
  await shown(page, 'Compact rows');
  t.equal(await page.locator('.tooltip kbd').innerText(), 'c');
  t.same(await violationsOf(page), []);
  await page.keyboard.press('Escape');
  await gone(page);
  await page.getByRole('heading', { level: 1 }).hover();
  await tabTo(page, 'Compact rows');
  await shown(page, 'Compact rows');
  await page.keyboard.press('Enter');
  await gone(page);
  await page.getByRole('button', { name: 'Compact rows', pressed: true }).waitFor();

  await page.getByRole('button', { name: 'New container' }).click();
  const close = page.getByRole('dialog').getByRole('button', { name: 'Close' });
  await close.hover();
  await shown(page, 'Close');
  const [tip, button] = [await page.locator('.tooltip').boundingBox(), await close.boundingBox()];
  t.ok(tip !== null && button !== null && tip.y > button.y + button.height, 'below its button');
  await close.click();
  await gone(page);
  await page.getByRole('button', { name: 'New container' }).hover();

  await page.goto(`${paged.address}/containers/${id}`);
  const split = page.getByRole('button', { name: 'Split below' });
  await split.hover();
  await shown(page, 'Split below');
  t.same(await page.locator('.tooltip kbd').allInnerTexts(), ['Ctrl', 'Shift', 'O']);
  t.equal(await split.getAttribute('aria-keyshortcuts'), 'Control+Shift+O');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  const letters = page.getByRole('button', { name: 'Match capital letters' });
  await letters.hover();
  await shown(page, 'Match capital letters');
  t.equal(await page.locator('button[title]').count(), 0, 'none has a second one of the browser');
  t.same(faults, []);
});

test('the key c switches between tall and compact rows in every list of containers', async (t, browser, paged) => {
  await paged.container(await anAdmin(paged.service), 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, 'root');
  const rows = (pressed: boolean) => page.getByRole('button', { name: 'Compact rows', pressed }).waitFor();
  await page.goto(`${paged.address}/admin/containers`);
  await rows(false);
  await page.keyboard.press('c');
  await rows(true);
  await page.goto(`${paged.address}/shared`);
  await page.getByRole('heading', { name: 'Nothing is shared with you' }).waitFor();
  await page.keyboard.press('c');
  await page.goto(paged.address);
  await rows(false);
  await page.keyboard.press('c');
  await rows(true);
  t.same(faults, []);
});

test('a tooltip comes only for a mouse that rests or a key Tab, and goes with its button', async (t, browser, paged) => {
  await paged.container(await anAdmin(paged.service), 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, 'root');
  await page.clock.install();
  const shownNow = (): Promise<number> => page.locator('.tooltip.shown').count();
  const rows = page.getByRole('button', { name: 'Compact rows' });
  await page.keyboard.press('Tab');
  await rows.click();
  await page.getByRole('button', { name: 'Compact rows', pressed: true }).waitFor();
  t.equal(await shownNow(), 0, 'a press after Tab shows none');

  const heading = page.getByRole('heading', { level: 1 });
  await heading.hover();
  await rows.hover();
  await page.evaluate(() => document.documentElement.dispatchEvent(new PointerEvent('pointerleave')));
  await page.clock.runFor(1000);
  t.equal(await shownNow(), 0, 'none after the mouse has left the window');
  await heading.hover();
  await rows.hover();
  await page.evaluate(() => document.dispatchEvent(new Event('scroll')));
  await page.clock.runFor(1000);
  t.equal(await shownNow(), 0, 'none for a button that has scrolled away');

  await heading.hover();
  await rows.hover();
  await page.clock.runFor(1000);
  await shown(page, 'Compact rows');
  await rows.evaluate((button: { remove: () => void }) => button.remove());
  await gone(page);
  t.same(faults, []);
});

const MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0';

test('a Mac reads its own keys in the head, in tooltips, menus and the list of shortcuts', async (t, browser, paged) => {
  const id = await paged.container(await anAdmin(paged.service), 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, 'root', '/', { userAgent: MAC });
  await page.locator('.palette-button kbd', { hasText: '⌘ K' }).waitFor();
  await page.keyboard.press('Meta+k');
  await page.getByRole('dialog', { name: 'Command palette' }).waitFor();
  await page.keyboard.press('Escape');
  await page.goto(`${paged.address}/containers/${id}`);
  const search = page.getByRole('button', { name: 'Search', exact: true });
  t.equal(await search.getAttribute('aria-keyshortcuts'), 'Meta+F');
  await page.getByRole('button', { name: 'Split below' }).hover();
  await shown(page, 'Split below');
  t.same(await page.locator('.tooltip kbd').allInnerTexts(), ['⌃', '⇧', 'O']);
  await page.getByRole('button', { name: 'Terminal menu' }).click();
  await page.getByRole('menuitem', { name: 'Paste' }).locator('kbd', { hasText: '⌘ V' }).waitFor();
  await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click();
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await list.waitFor();
  await list.locator('kbd', { hasText: '⇧' }).first().waitFor();
  t.equal(await list.locator('kbd', { hasText: 'Ctrl' }).count(), 0, 'no key of another keyboard');
  t.same(faults, []);
});

test('single-key shortcuts can be switched off, and stay so in this browser', async (t, browser, paged) => {
  await paged.container(await anAdmin(paged.service), 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, 'root');
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await page.keyboard.press('?');
  await list.getByLabel('Single-key shortcuts').uncheck();
  await list.getByText('New container').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('link', { name: 'calm-bay' }).waitFor();
  for (const key of ['n', '?', 'c', '/']) await page.keyboard.press(key);
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Command palette' }).waitFor();
  t.equal(await page.getByRole('dialog').count(), 1, 'no key opened another');
  t.equal(await page.getByRole('button', { name: 'Compact rows', pressed: true }).count(), 0);
  await page.keyboard.press('Escape');
  t.equal(await page.locator('.filter kbd').count(), 0, 'no hint of a key that does nothing');
  await page.getByRole('button', { name: 'Help' }).click();
  await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click();
  await list.getByLabel('Single-key shortcuts').check();
  await page.keyboard.press('Escape');
  await page.keyboard.press('n');
  await page.getByRole('dialog', { name: 'New container' }).waitFor();
  t.same(faults, []);
});
