import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import {
  newContainer,
  openBrowser,
  openPage,
  PROMPT,
  shoot,
  typeLine,
  waitForLine,
} from '../support/browser/page.ts';
import { setUp } from '../support/browser/visit.ts';
import { type SilencingProxy, silencingProxy } from '../support/process/lines.ts';
import { aQuickPlace, startService } from '../support/process/running-service.ts';

t.setTimeout(240_000);

/** A shell on a page that reaches its service by a line that can go dead; null when this machine cannot have them. */
async function aShell(t: Test): Promise<{ page: Page; line: SilencingProxy } | null> {
  const line = await silencingProxy(t);
  const place = await aQuickPlace(t, { BERTH_ALLOWED_ORIGINS: line.origin });
  const browser = await openBrowser(t);
  if (place === null || browser === null) return null;
  const { address, setupCode } = await startService(t, place);
  line.leadTo(address);
  const { page } = await openPage(browser);
  await page.goto(`${line.origin}/setup#code=${setupCode}`);
  await setUp(page);
  await newContainer(page, 'calm-harbor');
  await waitForLine(page, PROMPT);
  return { page, line };
}

const shown = (page: Page, words: string | RegExp): Promise<void> => page.getByText(words).waitFor();

const status = (page: Page) => page.locator('.terminal-bar .status');

t.test('a line that goes dead is told, what is typed meanwhile is counted and arrives', async (t) => {
  const visit = await aShell(t);
  if (visit === null) return;
  const { page, line } = visit;
  const context = page.context();

  await t.test('the browser’s own notice', async (t) => {
    await context.setOffline(true);
    await shown(page, 'You are offline.');
    await page.keyboard.type('echo "=offline="');
    await shown(page, 'You are offline. 16 characters will be sent when you are back.');
    t.match(await status(page).getAttribute('class'), /stale/, 'the state is not shown as if it were known');
    await shoot(page, 'line-offline');
    await context.setOffline(false);
    await page.keyboard.press('Enter');
    await waitForLine(page, /^=offline=$/);
    await page.getByText('You are offline.').waitFor({ state: 'detached' });
    t.notMatch(await status(page).getAttribute('class'), /stale/);
  });

  await t.test('packets that are dropped without a word', async () => {
    line.fallSilent();
    await shown(page, 'Berth is not responding.');
    await page.keyboard.type('echo "=dead="');
    // The acknowledgement of what was typed just before may be lost with the line.
    await shown(page, /1[34] characters will be sent when it is back\./);
    await shoot(page, 'line-dead');
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
    await shown(page, /^Berth is not responding/);
    t.match(await page.locator('.row .status').getAttribute('class'), /stale/);
    await shoot(page, 'line-list');
    line.recover();
    await page.getByText(/^Berth is not responding/).waitFor({ state: 'detached' });
    await context.setOffline(true);
    await shown(page, /^You are offline/);
    await context.setOffline(false);
    await page.getByText(/^You are offline/).waitFor({ state: 'detached' });
  });
});
