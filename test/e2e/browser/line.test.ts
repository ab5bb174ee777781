import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { aPagedService, signedIn } from '../../support/browser/memory-page.ts';
import { openBrowser, PROMPT, shoot, waitForLine } from '../../support/browser/page.ts';
import { waitFor } from '../../support/patience.ts';
import { type SilencingProxy, silencingProxy } from '../../support/process/lines.ts';
import { aPerson } from '../../support/service/service.ts';
import { type FakePty, fakeTerminals } from '../../support/terminal/terminals.ts';

t.setTimeout(240_000);

type Visit = { readonly page: Page; readonly line: SilencingProxy; readonly pty: () => FakePty };

/** A terminal on a page that reaches its service by a line that can go dead; null when this machine cannot have them. */
async function aTerminal(t: Test): Promise<Visit | null> {
  const line = await silencingProxy(t);
  const browser = await openBrowser(t);
  if (browser === null) return null;
  const terminals = fakeTerminals();
  const allowedOrigins = new Set([line.origin]);
  const paged = await aPagedService(t, { terminalBackend: terminals }, { allowedOrigins });
  line.leadTo(paged.address);
  const id = await paged.container(await aPerson(paged.service, 'ada'), 'calm-harbor');
  const { page } = await signedIn(browser, { ...paged, address: line.origin }, 'ada');
  await page.goto(`${line.origin}/containers/${id}`);
  await page.locator('.xterm-rows').waitFor();
  await waitFor(() => terminals.opened.length === 1);
  const pty = (): FakePty => terminals.opened.at(-1) as FakePty;
  // Nothing is typed before the line fails: what is not acknowledged by then is counted as well.
  pty().say('# ');
  await waitForLine(page, PROMPT);
  await page.locator('.xterm-helper-textarea').focus();
  return { page, line, pty };
}

const shown = (page: Page, words: string | RegExp): Promise<void> => page.getByText(words).waitFor();

const status = (page: Page) => page.locator('.terminal-bar .status');

t.test('a line that goes dead is told, what is typed meanwhile is counted and arrives', async (t) => {
  const visit = await aTerminal(t);
  if (visit === null) return;
  const { page, line, pty } = visit;
  const context = page.context();

  await t.test('the browser’s own notice', async (t) => {
    await context.setOffline(true);
    await shown(page, 'You are offline.');
    await page.keyboard.type('echo "=offline="');
    await shown(page, 'You are offline. 16 characters will be sent when you are back.');
    t.match(await status(page).getAttribute('class'), /stale/, 'the state is not shown as if it were known');
    await shoot(page, 'line-offline');
    await context.setOffline(false);
    await waitFor(() => pty().typed() === 'echo "=offline="');
    await page.getByText('You are offline.').waitFor({ state: 'detached' });
    await page.locator('.terminal-bar .status:not(.stale)').waitFor();
  });

  await t.test('packets that are dropped without a word', async () => {
    line.fallSilent();
    await shown(page, 'Berth is not responding.');
    await page.keyboard.type('echo "=dead="');
    // With what was typed before, when its acknowledgement is lost with the line.
    await shown(page, /(13|29) characters will be sent when it is back\./);
    await shoot(page, 'line-dead');
    line.recover();
    await page.locator('.line-lost').waitFor({ state: 'detached' });
    await page.keyboard.type('last');
    const what = () => `each once, in order: ${pty().typed()}`;
    await waitFor(() => pty().typed() === 'echo "=offline="echo "=dead="last', { what });
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
