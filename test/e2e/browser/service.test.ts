import type { Page } from 'playwright-core';
import t from 'tap';
import type { PartState } from '../../../src/domain/service/health.ts';
import { violationsEverywhere } from '../../support/browser/axe.ts';
import { openBrowser } from '../../support/browser/chromium.ts';
import { aPagedService, focusedName, signedIn, test } from '../../support/browser/memory-page.ts';
import { anAdmin, aPerson, as } from '../../support/service/service.ts';

const banner = (page: Page) => page.locator('.announcements');
const topOf = (page: Page, selector: string): Promise<number> =>
  page.locator(selector).evaluate((element) => element.getBoundingClientRect().top);

test('an announcement appears in open pages, and again when it is changed', async (t, browser, paged) => {
  const root = await anAdmin(paged.service);
  const ada = await aPerson(paged.service, 'ada');
  await paged.container(ada, 'dev');
  const { page: open, faults } = await signedIn(browser, paged, 'ada');
  await open.getByText('dev', { exact: true }).first().waitFor();
  const before = await topOf(open, '#main h1');

  const { page: admin } = await signedIn(browser, paged, 'root', '/admin/announcements');
  await admin.getByText('No announcements.').waitFor();
  await admin.getByRole('button', { name: 'New announcement' }).click();
  await admin.keyboard.type('Berth restarts at 22:00: https://status.example.org.');
  await admin.keyboard.press('Control+Enter');
  await admin.getByRole('button', { name: 'Announce', exact: true }).click();
  await admin.locator('.item').getByText('Berth restarts at 22:00').waitFor();
  await admin.getByText('Everybody sees the announcement now').waitFor();
  const facts = await admin.locator('.item', { hasText: 'Shown now' }).innerText();
  t.match(facts, /since .*\d:\d\d(?!:)/, 'its time is to the minute');
  t.notMatch(facts, /\d:\d\d:\d\d/);

  await banner(open).getByText('Berth restarts at 22:00').waitFor();
  t.equal(await topOf(open, '#main h1'), before, 'nothing moves');
  const link = banner(open).getByRole('link', { name: 'https://status.example.org' });
  t.equal(await link.getAttribute('href'), 'https://status.example.org', 'without the full stop');
  t.same(await violationsEverywhere(open), []);
  await open.getByRole('button', { name: 'Dismiss the announcement' }).focus();
  await open.keyboard.press('Enter');
  await banner(open).waitFor({ state: 'detached' });
  // The focus is not lost.
  await open.locator('#main:focus').waitFor();
  await open.reload();
  await open.getByText('dev', { exact: true }).first().waitFor();
  t.equal(await banner(open).count(), 0, 'it stays dismissed');

  const all = await as(paged.service, root)('GET', '/api/admin/announcements');
  paged.clock.advance(1_000);
  const [{ id }] = all.json().announcements;
  await as(paged.service, root)('PATCH', `/api/admin/announcements/${id}`, { severity: 'warning' });
  await banner(open).getByText('Berth restarts at 22:00').waitFor();

  await open.getByRole('link', { name: 'dev' }).first().click();
  await open.locator('.xterm-screen').first().waitFor();
  const size = await open.locator('.terminal-area').boundingBox();
  await as(paged.service, root)('POST', '/api/admin/announcements', { text: 'Read this too.' });
  const button = open.getByRole('button', { name: 'Read 2 announcements' });
  await button.waitFor();
  t.same(await open.locator('.terminal-area').boundingBox(), size, 'the terminal keeps its size');
  await button.focus();
  await open.keyboard.press('Enter');
  await open.getByRole('dialog').getByText('Read this too.').waitFor();
  t.same(await violationsEverywhere(open), []);
  await open.keyboard.press('Escape');
  t.match(await focusedName(open), 'Read 2 announcements');
  t.same(faults, []);
});

t.test('an administrator sees what failed, since when, and what to do', async (t) => {
  const browser = await openBrowser(t);
  if (browser === null) return;
  const well: PartState = { status: 'ready', detail: 'there' };
  const mend = 'restart it (sudo systemctl restart docker)';
  const away: PartState = { status: 'degraded', detail: 'does not answer', reason: 'unreachable', mend };
  let engine = well;
  const readiness = async () => ({
    status: 'ready' as const,
    parts: { database: well, engine, image: well, disk: well, isolation: well, resources: well },
  });
  const paged = await aPagedService(t, {}, { readiness });
  const record = async (minutes: number): Promise<void> => {
    paged.clock.advance(minutes * 60_000);
    await paged.service.recordHealth();
  };
  await anAdmin(paged.service);
  await aPerson(paged.service, 'ada');
  await record(0);
  const { page, faults } = await signedIn(browser, paged, 'root', '/admin/health');
  await page.getByText('Nothing failed.').waitFor();
  engine = away;
  await record(0);
  await page.locator('.health-line').getByText('Engine unreachable').waitFor();
  await page.locator('.health-line').getByText('sudo systemctl restart docker', { exact: true }).waitFor();
  await page.locator('.outage').getByText('Engine unreachable').waitFor();
  engine = well;
  await record(4);
  await page.locator('.outage').getByText('for 4 min').waitFor();
  await page.locator('.health-line.good').getByText('Container engine').waitFor();

  engine = away;
  const { page: plain } = await signedIn(browser, paged, 'ada');
  await plain.getByText('Containers cannot start at the moment').waitFor();
  await plain.getByText('Your administrators see why').waitFor();
  t.equal(await plain.getByText('systemctl').count(), 0, 'commands for root are for administrators');
  t.same(faults, []);
});
