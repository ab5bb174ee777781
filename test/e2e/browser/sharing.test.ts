import type { Browser, Page } from 'playwright-core';
import t from 'tap';
import { openBrowser } from '../../support/browser/chromium.ts';
import {
  fillPerson,
  openPage,
  PROMPT,
  typeLine,
  typeUntilAnswered,
  visitOf,
  waitForLine,
} from '../../support/browser/page.ts';
import { eventually } from '../../support/patience.ts';
import { type Member, register, sharedService } from '../../support/process/running-service.ts';

/** Makes a link in the dialog and returns it. */
async function makeLink(page: Page, what: 'View' | 'Type'): Promise<string> {
  await page.getByRole('button', { name: 'Share this terminal' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(what, { exact: true }).first().click();
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const link = await dialog.locator('.token-secret').innerText();
  await page.keyboard.press('Escape');
  return link;
}

/** Follows a link as a signed-out user. */
async function follow(browser: Browser, link: string, { username, password }: Member) {
  const { page, faults } = await openPage(browser);
  await page.goto(link);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await fillPerson(page, { email: username, password });
  await page.locator('.xterm').waitFor();
  return { page, faults };
}

t.test('a terminal is shared by a link, typed in by two, viewed, and ended', async (t) => {
  const [service, browser] = [await sharedService(t), await openBrowser(t)];
  if (service === null || browser === null) return;
  const { address } = service;
  const [bobAccount, eveAccount] = [
    await register(service, { name: 'bob' }),
    await register(service, { name: 'eve' }),
  ];
  const owner = await visitOf(service, browser, await register(service));
  const made = await owner.call('POST', '/api/containers', { name: 'dev' });
  t.equal(made.status, 201);
  const at = `/containers/${made.body['db_id']}`;
  await owner.page.goto(`${address}${at}`);
  await waitForLine(owner.page, PROMPT);
  await typeUntilAnswered(owner.page, 'echo "=$((6*7))="', /^=42=$/);

  const control = await makeLink(owner.page, 'Type');
  const bob = await follow(browser, control, bobAccount);
  t.equal(bob.page.url(), `${address}${at}`, 'the code is nowhere in the address');
  await waitForLine(bob.page, /^=42=$/);
  await typeUntilAnswered(bob.page, 'echo "=$((7*7))="', /^=49=$/);
  await waitForLine(owner.page, /^=49=$/);
  await bob.page.keyboard.press('Control+Shift+E');
  t.equal(await bob.page.getByRole('button', { name: 'Split right' }).count(), 0);
  t.equal(await bob.page.locator('.pane').count(), 1, 'what is shared is one terminal');
  await owner.page.locator('.participants', { hasText: bobAccount.username }).waitFor();
  await bob.page.locator('.participants', { hasText: owner.person.username }).waitFor();

  const sizeOf = (page: Page): Promise<string> =>
    page.locator('.line-facts [title="Columns × rows"]').innerText();
  const before = await sizeOf(owner.page);
  await owner.page.setViewportSize({ width: 900, height: 500 });
  // Each page receives this over its own connection.
  const [ofOwner, ofBob] = await eventually(
    async () => [await sizeOf(owner.page), await sizeOf(bob.page)],
    ([own, his]) => own !== before && his === own,
  );
  t.not(ofOwner, before);
  t.equal(ofBob, ofOwner, 'the window of the owner rules');
  await typeLine(owner.page, 'clear; echo "<$(stty size)>"');
  const sized = /^<\d+ \d+>$/;
  await waitForLine(owner.page, sized);
  await waitForLine(bob.page, sized);

  const view = await makeLink(owner.page, 'View');
  const eve = await follow(browser, view, eveAccount);
  await eve.page.getByText('View only').waitFor();
  await waitForLine(eve.page, sized);
  await typeLine(eve.page, 'echo not-heard');
  await typeLine(owner.page, 'echo heard');
  await waitForLine(eve.page, /^heard$/);
  t.notMatch(await owner.page.locator('.xterm-rows').innerText(), /not-heard/);
  await eve.page.goto(address);
  await eve.page.getByRole('link', { name: 'Shared with me' }).click();
  await eve.page.getByText(`shared by ${owner.person.username}`).waitFor();

  await owner.page.setViewportSize({ width: 1200, height: 720 });
  await owner.page.getByRole('button', { name: 'Share this terminal' }).click();
  await owner.page.getByText(eveAccount.username, { exact: true }).waitFor();
  await bob.page.setViewportSize({ width: 700, height: 400 });
  await typeLine(bob.page, 'seq 100');
  await waitForLine(bob.page, /^100$/);
  t.ok(await bob.page.getByText('100', { exact: true }).last().isVisible(), 'also in a smaller window');
  await owner.page.getByRole('button', { name: `Remove ${bobAccount.username}` }).click();
  await owner.page.getByText('Nobody has joined yet.').waitFor();
  await bob.page.getByRole('heading', { name: 'dev is no longer shared with you' }).waitFor();
  await owner.page
    .locator('.shares li', { hasText: 'Can type' })
    .getByRole('button', { name: 'End' })
    .click();
  await owner.page.locator('.shares li', { hasText: 'Can type' }).waitFor({ state: 'detached' });

  await eve.page.goto(`${address}${at}`);
  await eve.page.getByText('View only').waitFor();
  await eve.page.getByRole('button', { name: 'Terminal menu' }).click();
  await eve.page.getByRole('menuitem', { name: 'Leave shared terminal' }).click();
  await eve.page.getByText('No containers yet').waitFor();

  await bob.page.goto(control);
  await bob.page.getByText('This link is no longer valid').waitFor();
  const faults = [...owner.faults, ...bob.faults, ...eve.faults];
  t.same(
    faults.filter((fault) => !/status of 40[14]/.test(fault)),
    [],
    'nothing went wrong in the pages, and their policy was kept',
  );
  for (const secret of [control, view]) t.notOk(service.output().includes(secret.split('code=')[1] ?? '-'));
});
