import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { fixedClock, memoryPorts } from '../../../../src/adapters/memory/index.ts';
import { violationsEverywhere } from '../../../support/browser/axe.ts';
import { openBrowser } from '../../../support/browser/chromium.ts';
import { aPagedService, focusedName, signedIn, test } from '../../../support/browser/memory-page.ts';
import { waitFor } from '../../../support/patience.ts';
import { anAdmin, as } from '../../../support/service/service.ts';

/** More than one page of the interface. */
const COUNT = 250;

const firstName = (page: Page): Promise<string> => page.locator('.row-name').first().innerText();
const untilFirst = (page: Page, name: string) =>
  waitFor(async () => (await firstName(page)) === name, { what: `${name} at the top` });

test('a long list is sorted, limited and counted by the service, and drawn in part', async (t, browser, paged) => {
  const root = await anAdmin(paged.service);
  const call = as(paged.service, root);
  await call('PATCH', '/api/admin/tiers/enterprise', { max_containers: COUNT });
  await paged.service.ports.storage.repositories.settings.change({ requestsPerMinute: 0 });
  for (let index = 1; index <= COUNT; index += 1) {
    paged.clock.advance(1_000);
    await paged.container(root, `box-${String(index).padStart(3, '0')}`);
  }
  const { containers } = (await call('GET', '/api/containers?name=box-007')).json();
  await call('POST', `/api/containers/${containers[0].db_id}/stop`);

  const { page, faults } = await signedIn(browser, paged, 'root');
  await page.getByText(`${COUNT} containers`).waitFor();
  t.ok((await page.locator('.row').count()) < 60, 'rows far from the window are not drawn');
  await findsBeyondLoaded(page, 'box-001');
  await page.goBack();

  const byName = page.getByRole('button', { name: 'Name' });
  await byName.focus();
  await page.keyboard.press('Enter');
  await untilFirst(page, `box-${COUNT}`);
  await page.getByRole('button', { name: /^Name\s*descending$/ }).waitFor();
  await page.reload();
  await untilFirst(page, `box-${COUNT}`);
  t.pass('the order is kept in this browser');
  await byName.click();
  await untilFirst(page, 'box-001');

  await page.keyboard.press('Escape');
  await page.locator('.row-name').first().focus();
  // The keyboard scrolls along. A row that is not drawn yet takes no focus.
  for (let presses = 0; presses < 200 && (await focusedName(page)) !== 'box-040'; presses += 1)
    await page.keyboard.press('ArrowDown');
  t.equal(await focusedName(page), 'box-040');
  await rowsInBothHeights(t, page);
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await page.getByRole('link', { name: `box-${COUNT}` }).waitFor();
  await page.getByRole('button', { name: `More for box-${COUNT}` }).click();
  const last = await page.getByRole('menuitem', { name: 'Delete…' }).boundingBox();
  t.ok(last !== null && last.y + last.height <= 720, `the menu is within the window: ${last?.y}`);
  await page.keyboard.press('Escape');

  await page.getByLabel('State').selectOption('Stopped or disconnected');
  await page.getByText('1 found').waitFor();
  await page.getByRole('link', { name: 'box-007' }).waitFor();
  await page.getByLabel('State').selectOption('All states');
  await page.getByLabel('Filter containers').fill('box-01');
  await page.getByText('10 found').waitFor();
  const late = Promise.withResolvers<void>();
  await page.route(/[?&]q=box-02&/, async (route) => {
    await late.promise;
    await route.continue();
  });
  const asked = page.waitForRequest(/[?&]q=box-02&/);
  await page.getByLabel('Filter containers').fill('box-02');
  await asked;
  await page.getByLabel('Filter containers').press('0');
  late.resolve();
  await page.getByText('1 found').waitFor();
  await page.getByRole('link', { name: 'box-020' }).waitFor();
  await page.getByLabel('Filter containers').fill('nothing of this name');
  await page.getByText('No containers match').waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByText(`${COUNT} containers`).waitFor();
  t.same(faults, []);
});

/** Switches between tall and compact rows in the middle of the list. */
async function rowsInBothHeights(t: Test, page: Page): Promise<void> {
  const focused = page.locator('.row:has(.row-name:focus)');
  const topAt = async (height: number): Promise<number> => {
    await waitFor(async () => (await focused.boundingBox())?.height === height, { what: `${height} px` });
    return (await focused.boundingBox())?.y ?? 0;
  };
  const [tall, compact] = [64, 40];
  const before = await topAt(tall);
  await page.keyboard.press('c');
  t.ok(Math.abs((await topAt(compact)) - before) < 14, 'the row with the focus stays');
  t.ok((await page.locator('.row').count()) < 60, 'rows far from the window are not drawn');
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await page.getByRole('link', { name: `box-${COUNT}` }).waitFor();
  await page.evaluate('scrollTo(0, 0)');
  // A reload returns to the offset that is kept, where other rows are drawn.
  await waitFor(async () => (await page.evaluate('history.state.scrolledPx')) === 0, { what: 'the top' });
  await page.reload();
  await page.getByRole('button', { name: 'Compact rows', pressed: true }).waitFor();
  await page.locator('.row-name').first().focus();
  await topAt(compact);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('taller rows');
  await page.getByRole('option', { name: 'Taller rows', selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await topAt(tall);
}

/** The palette finds the oldest container by the service. */
async function findsBeyondLoaded(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Command palette' });
  await palette.getByRole('option').first().waitFor();
  await page.keyboard.type(name);
  await palette.locator('[aria-selected=true]', { hasText: name }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/containers\//);
}

t.test('a row shows what its container uses, and that a program was ended for memory', async (t) => {
  const browser = await openBrowser(t);
  if (browser === null) return;
  const clock = fixedClock(new Date());
  const base = memoryPorts(clock);
  let memoryKills = 0;
  const load = async () => {
    const figures = { cpuMillicores: 40, memoryBytes: 100 * 1_048_576, pids: 9 };
    return { ...figures, memoryKills, at: clock.now() };
  };
  const paged = await aPagedService(t, { ...base, insight: { ...base.insight, load } });
  await paged.container(await anAdmin(paged.service), 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, 'root');
  await page.getByText('Debian 12 · Standard').waitFor();
  await page.getByText('40 %').waitFor();
  await page.getByText('100 of 256 MB').waitFor();
  await page.locator('.figure-line path[d^="M88"]').first().waitFor({ state: 'attached' });
  memoryKills = 1;
  await paged.service.sampleFigures();
  await page.reload();
  await page.getByText('ran out of memory just now').waitFor();
  t.same(await violationsEverywhere(page), []);
  t.same(faults, []);
});

test('the keyboard goes on at the heading after a row is gone', async (t, browser, paged) => {
  const root = await anAdmin(paged.service);
  for (const name of ['calm-bay', 'web-api']) await paged.container(root, name);
  const { page, faults } = await signedIn(browser, paged, 'root');
  const more = page.getByRole('button', { name: 'More for calm-bay' });
  await more.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Delete calm-bay?' }).getByText('are kept for').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await more.waitFor({ state: 'detached' });
  await page.locator('h1:focus').waitFor();

  await page.goto(`${paged.address}/settings/sessions`);
  const end = page.locator('.item').getByRole('button', { name: 'Sign out' });
  await end.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).press('Enter');
  await end.waitFor({ state: 'detached' });
  await page.locator('h1:focus').waitFor();
  t.same(faults, []);
});
