import path from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { openBrowser } from '../../support/browser/chromium.ts';
import {
  asFirst,
  fillPerson,
  openPage,
  setUpPage,
  typeUntilAnswered,
  waitForLine,
} from '../../support/browser/page.ts';
import { photograph } from '../../support/browser/photograph.ts';
import { inNewPane, makeShop, openShop } from '../../support/browser/shop.ts';
import { aQuickInstallation, client } from '../../support/process/running-service.ts';

t.setTimeout(600_000);

const BOB = { email: 'bob@example.org', username: 'bob', password: 'correct horse battery' };

/** A picture of docs, with WRITE_DOCS=1. */
async function picture(page: Page, name: string): Promise<void> {
  if (process.env['WRITE_DOCS'] === undefined) return;
  await photograph(page, path.join('docs/images', `${name}.png`));
}

t.test("the guides' steps lead where they say", async (t) => {
  const shown = await setUpPage(t, await aQuickInstallation(t));
  if (shown === null) return;
  const { page, address, faults } = shown;
  await page.emulateMedia({ colorScheme: 'dark' });
  await fillPerson(page);
  await page.getByText('Create your first container').first().waitFor();
  const call = await asFirst(address);
  await call('PATCH', '/api/admin/settings', { open_registration: true });
  await client(address)('POST', '/api/auth/register', BOB);
  for (const name of ['docs', 'billing']) await call('POST', '/api/containers', { name });

  // docs/guide/terminal.md
  const made = await call('POST', '/api/containers', { name: 'web-api' });
  await makeShop(call, String(made.body['db_id']));
  await page.goto(`${address}/containers/${made.body['db_id']}`);
  await openShop(page);
  await page.keyboard.press('Control+Shift+E');
  await inNewPane(page, 'cd shop; clear; git show --color prices', /cents\(\)/);
  await picture(page, 'panes');
  await page.keyboard.press('Control+Shift+O');
  await inNewPane(page, 'cd shop; clear; bash test/run.sh', /keeps cents/);
  await picture(page, 'terminal');
  await page.keyboard.press('Control+Shift+X');
  await page.keyboard.press('Control+Shift+X');

  // docs/guide/sharing.md
  await page.getByRole('button', { name: /Share/ }).first().click();
  const dialog = page.getByRole('dialog');
  await picture(page, 'sharing');
  await dialog.getByText('Type', { exact: true }).first().click();
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const link = await dialog.locator('.token-secret').innerText();
  await page.keyboard.press('Escape');
  const browser = await openBrowser(t);
  if (browser === null) return;
  const { page: his } = await openPage(browser);
  await his.goto(link);
  await fillPerson(his, { email: BOB.email, password: BOB.password });
  await waitForLine(his, /^-rw.*README\.md$/);

  // docs/guide/recording.md
  await page.getByRole('button', { name: 'Record this terminal' }).click();
  await page.getByText('Recording', { exact: true }).waitFor();
  await typeUntilAnswered(page, 'git show --stat | head -3', /^commit/);
  await page.getByRole('button', { name: 'Stop recording' }).click();
  await page.goto(`${address}/recordings`);
  await page.getByText('web-api').first().waitFor();
  await picture(page, 'recordings');

  // docs/guide/tokens.md
  await page.goto(`${address}/settings/tokens`);
  await page.getByRole('button', { name: 'New token' }).first().click();
  await page.getByRole('dialog').getByLabel('Name').fill('deploy');
  await picture(page, 'token');

  await page.goto(address);
  await page.getByText('billing').first().waitFor();
  await picture(page, 'containers');
  t.same(faults, []);
});
