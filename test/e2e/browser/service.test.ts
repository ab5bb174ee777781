import type { Page } from 'playwright-core';
import t from 'tap';
import { violationsEverywhere } from '../../support/browser/axe.ts';
import { aScene, focusedName, signedIn } from '../../support/browser/memory-page.ts';
import { shootBoth } from '../../support/browser/page.ts';
import { anAdmin, aPerson, as } from '../../support/service/service.ts';

t.setTimeout(300_000);

const banner = (page: Page) => page.locator('.announcements');
const topOf = (page: Page, selector: string): Promise<number> =>
  page.locator(selector).evaluate((element) => element.getBoundingClientRect().top);

t.test('an announcement appears in open pages, and again when it is changed', async (t) => {
  const scene = await aScene(t);
  if (scene === null) return;
  const { browser, paged } = scene;
  const root = await anAdmin(paged.service);
  const ada = await aPerson(paged.service, 'ada');
  await paged.container(ada, 'dev');
  const { page: open, faults } = await signedIn(browser, paged, 'ada');
  await open.getByText('dev', { exact: true }).first().waitFor();
  const before = await topOf(open, '#main h1');

  const { page: admin } = await signedIn(browser, paged, 'root');
  await admin.goto(`${paged.address}/admin/announcements`);
  await admin.getByText('Nothing is announced.').waitFor();
  await admin.getByRole('button', { name: 'Announce something' }).click();
  await admin.keyboard.type('Berth restarts at 22:00: https://status.example.org.');
  t.same(await violationsEverywhere(admin), []);
  await shootBoth(admin, 'announcement-dialog');
  await admin.keyboard.press('Control+Enter');
  await admin.getByRole('button', { name: 'Announce', exact: true }).click();
  await admin.locator('.item').getByText('Berth restarts at 22:00').waitFor();
  await admin.getByText('It is announced').waitFor();

  await banner(open).getByText('Berth restarts at 22:00').waitFor();
  t.equal(await topOf(open, '#main h1'), before, 'nothing moves');
  const link = banner(open).getByRole('link', { name: 'https://status.example.org' });
  t.equal(await link.getAttribute('href'), 'https://status.example.org', 'without the full stop');
  t.same(await violationsEverywhere(open), []);
  await shootBoth(open, 'announcement');
  await open.getByRole('button', { name: 'Dismiss the announcement' }).focus();
  await open.keyboard.press('Enter');
  await banner(open).waitFor({ state: 'detached' });
  t.equal(await open.evaluate('document.activeElement.id'), 'main', 'the focus is not lost');
  await open.reload();
  await open.getByText('dev', { exact: true }).first().waitFor();
  t.equal(await banner(open).count(), 0, 'it stays dismissed');

  const all = await as(paged.service, root)('GET', '/api/admin/announcements');
  paged.clock.advance(1_000);
  const [{ id }] = all.json().announcements;
  await as(paged.service, root)('PATCH', `/api/admin/announcements/${id}`, { severity: 'warning' });
  await banner(open).getByText('Berth restarts at 22:00').waitFor();
  await shootBoth(open, 'announcement-warning');

  await open.getByRole('link', { name: 'dev' }).first().click();
  await open.locator('.xterm-screen').first().waitFor();
  const size = await open.locator('.terminal-area').boundingBox();
  await as(paged.service, root)('POST', '/api/admin/announcements', { text: 'Read this too.' });
  const button = open.getByRole('button', { name: 'Read 2 announcements' });
  await button.waitFor();
  t.same(await open.locator('.terminal-area').boundingBox(), size, 'the terminal keeps its size');
  await shootBoth(open, 'announcement-terminal');
  await button.focus();
  await open.keyboard.press('Enter');
  await open.getByRole('dialog').getByText('Read this too.').waitFor();
  t.same(await violationsEverywhere(open), []);
  await shootBoth(open, 'announcement-terminal-dialog');
  await open.keyboard.press('Escape');
  t.match(await focusedName(open), 'Read 2 announcements');
  t.same(faults, []);
});
