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
  t.equal(await page.locator('.icon-button[title]').count(), 0, 'none has a second one of the browser');
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
