import type { Locator, Page } from 'playwright-core';
import type { Test } from 'tap';
import { violationsEverywhere } from '../../../support/browser/axe.ts';
import { focusedName, signedIn, tabTo, test } from '../../../support/browser/memory-page.ts';
import { openPage } from '../../../support/browser/page.ts';
import { waitFor } from '../../../support/patience.ts';
import { anAdmin, aPerson } from '../../../support/service/service.ts';

const AREAS = ['Containers', 'Shared with me', 'Snapshots', 'Recordings', 'Administration', 'Settings'];

const main = (page: Page) => page.getByRole('navigation', { name: 'Main' });
const current = (page: Page) => main(page).locator('[aria-current=page]').innerText();

test('every area is reached by keyboard, marked, and found without fault by axe', async (t, browser, paged) => {
  const root = await anAdmin(paged.service);
  await paged.container(root, 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, 'root');
  const outside: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(paged.address)) outside.push(request.url());
  });
  const lefts = new Set<number | undefined>();
  for (const name of AREAS) {
    await tabTo(page, name);
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { level: 1, name });
    await heading.waitFor();
    t.equal(await current(page), name);
    const box = await heading.boundingBox();
    lefts.add(box?.x);
    t.same(await violationsEverywhere(page), [], name);
  }
  t.equal(lefts.size, 1, 'headings of all areas stand in one place');
  t.equal(await page.evaluate('document.fonts.check(\'500 14px "Inter Variable"\')'), true);
  t.same(outside, [], 'nothing comes from elsewhere');
  await menus(t, page);
  t.same(faults, []);

  await aPerson(paged.service, 'ada');
  const other = await signedIn(browser, paged, 'ada', '/admin');
  await other.page.getByText('Page not found').waitFor();
  t.equal(await main(other.page).getByRole('link').count(), AREAS.length - 1);

  await paged.service.ports.storage.repositories.settings.change({ guestsEnabled: true });
  const guest = await openPage(browser);
  await guest.page.goto(`${paged.address}/sign-in`);
  await guest.page.getByRole('button', { name: 'Continue as a guest' }).click();
  await guest.page.getByText('Recently deleted').waitFor();
  t.equal(await guest.page.getByRole('button', { name: 'Add an agent' }).count(), 0);
  const search = async (page: Page) => (await page.locator('.palette-button').boundingBox())?.x;
  t.equal(await search(guest.page), await search(other.page), 'a long name moves nothing');
});

/** The theme goes back to the system's, and help says which version this is. */
async function menus(t: Test, page: Page): Promise<void> {
  const themeOf = () => page.evaluate('document.documentElement.dataset.theme');
  const account = page.getByRole('button', { name: 'root' });
  await account.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  t.equal(await focusedName(page), 'Dark');
  await page.keyboard.press('Enter');
  t.equal(await themeOf(), 'dark');
  await page.keyboard.press('Enter');
  t.equal(await page.getByRole('menuitemradio', { name: 'Dark' }).getAttribute('aria-checked'), 'true');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await waitFor(async () => (await themeOf()) === 'system');

  await page.getByRole('button', { name: 'Help' }).click();
  await page.getByRole('menuitem', { name: 'Copy version 0.0.0' }).waitFor();
  await page.getByRole('menuitem', { name: 'API reference' }).waitFor();
  await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click();
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
}

test('a toast stays while somebody reads it, and leads back from a delete', async (t, browser, paged) => {
  await paged.container(await aPerson(paged.service, 'ada'), 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, 'ada');
  await page.clock.install();
  await page.getByRole('button', { name: 'More for calm-bay' }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.getByText('are kept for 8 days').waitFor();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  const undo = page.getByRole('button', { name: 'Undo' });
  await undo.focus();
  await page.clock.fastForward(60_000);
  t.equal(await undo.count(), 1);
  // Its time stands still: a busy machine would be too late for the next toast.
  await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 60_000);
  await page.keyboard.press('Enter');
  const done = page.getByText('calm-bay was restored');
  await waitFor(async () => {
    await page.clock.runFor(20);
    return (await done.count()) === 1;
  });
  await done.hover();
  await page.clock.fastForward(60_000);
  t.equal(await done.count(), 1);
  await page.getByRole('heading', { level: 1 }).hover();
  await page.clock.fastForward(10_000);
  await done.waitFor({ state: 'detached' });
  await page.clock.resume();
  await page.getByRole('link', { name: 'calm-bay' }).waitFor();
  t.same(faults, []);

  const busy = { error: 'too many requests', code: 'rate_limited' };
  await page.route('**/start', (route) =>
    route.fulfill({ status: 429, headers: { 'retry-after': '80' }, json: busy }),
  );
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  const words = page.locator('.toast p > [aria-hidden]');
  await words.getByText(/^Try again in \d+ s\.$/).waitFor();
  await page.getByRole('button', { name: 'Dismiss' }).focus();
  // Its place is that of its animation at first.
  const sizeOf = async () => ({ ...(await page.locator('.toast').boundingBox()), y: 0 });
  const size = await sizeOf();
  await page.clock.fastForward(90_000);
  await words.getByText('Try again now.').waitFor();
  t.same(await sizeOf(), size, 'nothing moves while it counts down');
  await page.keyboard.press('Enter');
  await words.waitFor({ state: 'detached' });
});

async function boxOf(element: Locator) {
  const box = await element.boundingBox();
  if (box === null) throw new Error('nothing is shown');
  return box;
}

test('a press on the edge of a dialog, as on its scrollbar, leaves it open', async (t, browser, paged) => {
  await paged.container(await aPerson(paged.service, 'ada'), 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, 'ada');
  const filter = page.getByLabel('Filter containers');
  await filter.fill('calm');
  await filter.dispatchEvent('keydown', { key: 'Escape', isComposing: true });
  t.equal(await filter.inputValue(), 'calm', 'an Escape of an input method is its own');
  await filter.press('Escape');
  t.equal(await filter.inputValue(), '');

  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'New container' });
  await dialog.getByText('Medium').waitFor();
  const { x, y, height } = await boxOf(dialog);
  await page.mouse.click(x + 0.5, y + height / 2);
  t.equal(await dialog.count(), 1);
  await page.mouse.click(x - 20, y + height / 2);
  await dialog.waitFor({ state: 'detached' });

  await page.keyboard.press('Control+K');
  const palette = page.getByRole('dialog', { name: 'Command palette' });
  const box = await boxOf(palette);
  await page.mouse.click(box.x + 0.5, box.y + box.height / 2);
  t.equal(await palette.count(), 1);
  await page.mouse.click(box.x - 20, box.y);
  await palette.waitFor({ state: 'detached' });
  t.same(faults, []);
});
