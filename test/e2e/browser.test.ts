import type { Page } from 'playwright-core';
import t from 'tap';
import { openBrowser } from '../support/browser.ts';
import { ADMIN, aPlace, startService } from '../support/running-service.ts';

const BAD = /Content Security Policy|Uncaught|TypeError/;

/** Waits for the title: the page's policy allows no evaluated condition. */
async function titled(page: Page, text: string): Promise<void> {
  for (let tries = 0; !(await page.title()).includes(text); tries++) {
    if (tries > 300) throw new Error(`the title is still ${await page.title()}`);
    await page.waitForTimeout(100);
  }
}

t.setTimeout(120_000);
t.test(
  'a new person sets up, creates a container, types into its shell, and is still there after a reload',
  async (t) => {
    const place = await aPlace(t);
    const browser = await openBrowser(t);
    if (place === null || browser === null) return;
    const { address, setupCode } = await startService(t, place);
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const complaints: string[] = [];
    page.on('console', (message) => BAD.test(message.text()) && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));

    await page.goto(`${address}/setup#code=${setupCode}`);
    await page.getByLabel('Email').fill(ADMIN.email);
    await page.getByLabel('Username').fill(ADMIN.username);
    await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Containers', exact: true }).waitFor();
    t.notMatch(page.url(), 'code=', 'the code does not stay in the address');

    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('first');
    await dialog.getByRole('button', { name: /create/i }).click();
    const terminal = page.locator('.xterm');
    await terminal.waitFor({ timeout: 30_000 });
    const input = page.locator('.xterm-helper-textarea');
    await input.focus();
    await page.keyboard.type(
      'echo $((6*7)) | tee answer; printf "\\033]0;read %s\\007" $(cat answer); cat\n',
      { delay: 5 },
    );
    // What the shell prints is drawn on a canvas; the title it sets is text.
    await titled(page, 'read 42');
    await page.screenshot({ path: '.tap/terminal.png' });

    await page.reload();
    await terminal.waitFor({ timeout: 30_000 });
    await titled(page, 'read 42');
    t.match(page.url(), /\/containers\//, 'still signed in, in the same shell, where the same program runs');
    await page.goto(address);
    await page.getByText('first').first().waitFor();
    t.same(complaints, []);
  },
);
