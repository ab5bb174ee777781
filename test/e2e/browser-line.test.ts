import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { openBrowser } from '../support/browser.ts';
import { setUp } from '../support/first-page.ts';
import { openPage, typeLine, waitForLine } from '../support/page.ts';
import { aPlace, startService } from '../support/running-service.ts';
import { type SilencingProxy, silencingProxy } from '../support/silencing-proxy.ts';

t.setTimeout(240_000);

const PROMPT = /[#$] *$/;

/** A shell on a page that reaches its service by a line that can go dead; null when this machine cannot have them. */
async function aShell(t: Test): Promise<{ page: Page; line: SilencingProxy } | null> {
  const line = await silencingProxy(t);
  const place = await aPlace(t, { BERTH_ALLOWED_ORIGINS: line.origin });
  const browser = await openBrowser(t);
  if (place === null || browser === null) return null;
  const { address, setupCode } = await startService(t, place);
  line.leadTo(address);
  const { page } = await openPage(browser);
  await page.goto(`${line.origin}/setup#code=${setupCode}`);
  await setUp(page);
  await page.keyboard.press('n');
  await page.getByText('Medium').waitFor();
  await page.getByLabel('Name').fill('calm-harbor');
  await page.keyboard.press('Enter');
  await waitForLine(page, PROMPT);
  return { page, line };
}

/** How long it took until the page says so, in ms. */
async function shown(page: Page, words: string | RegExp, withinMs = 10_000): Promise<number> {
  const since = performance.now();
  await page.getByText(words).waitFor({ timeout: withinMs });
  return Math.round(performance.now() - since);
}

const status = (page: Page) => page.locator('.terminal-bar .status');

t.test('a line that goes dead is told, what is typed meanwhile is counted and arrives', async (t) => {
  const visit = await aShell(t);
  if (visit === null) return;
  const { page, line } = visit;
  const context = page.context();

  await t.test('the browser’s own notice', async (t) => {
    await context.setOffline(true);
    t.comment(`told ${await shown(page, 'You are offline.')} ms after the notice`);
    await page.keyboard.type('echo "=offline="');
    await shown(page, 'You are offline. 16 characters will be sent when you are back.');
    t.match(await status(page).getAttribute('class'), /stale/, 'the state is not shown as if it were known');
    await page.screenshot({ path: '.tap/line-offline.png' });
    await context.setOffline(false);
    await page.keyboard.press('Enter');
    await waitForLine(page, /^=offline=$/);
    await page.getByText('You are offline.').waitFor({ state: 'detached' });
    t.notMatch(await status(page).getAttribute('class'), /stale/);
  });

  await t.test('packets that are dropped without a word', async (t) => {
    line.fallSilent();
    t.comment(`told ${await shown(page, 'Berth is not responding.')} ms after the last packet`);
    await page.keyboard.type('echo "=dead="');
    // The acknowledgement of what was typed just before may be lost with the line.
    await shown(page, /1[34] characters will be sent when it is back\./);
    await page.screenshot({ path: '.tap/line-dead.png' });
    line.recover();
    await page.keyboard.press('Enter');
    await waitForLine(page, /^=dead=$/);
    await page.locator('.line-lost').waitFor({ state: 'detached' });
    await typeLine(page, 'echo "=$((6*7))="');
    await waitForLine(page, /^=42=$/);
  });

  await t.test('the list says it as well', async (t) => {
    await page.getByRole('link', { name: 'All containers' }).click();
    await page.getByText('running', { exact: true }).waitFor();
    line.fallSilent();
    t.comment(`told ${await shown(page, /^Berth is not responding/)} ms after the last packet`);
    t.match(await page.locator('.row .status').getAttribute('class'), /stale/);
    await page.screenshot({ path: '.tap/line-list.png' });
    line.recover();
    await page.getByText(/^Berth is not responding/).waitFor({ state: 'detached' });
    await context.setOffline(true);
    t.comment(`told ${await shown(page, /^You are offline/)} ms after the notice`);
    await context.setOffline(false);
    await page.getByText(/^You are offline/).waitFor({ state: 'detached' });
  });
});
