import type { Browser, Page } from 'playwright-core';
import t from 'tap';
import { openBrowser } from '../support/browser.ts';
import { fillPerson, openPage, typeLine, typeUntilAnswered, waitForLine } from '../support/page.ts';
import { ADMIN, aPlace, client, signInAdmin, startService } from '../support/running-service.ts';

t.setTimeout(240_000);

const PASSWORD = 'correct horse battery';
const PROMPT = /[#$] *$/;

/** Makes a link in the dialog, and answers it. */
async function makeLink(page: Page, what: 'Look on' | 'Type along'): Promise<string> {
  await page.getByRole('button', { name: 'Share this terminal' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(what, { exact: true }).first().click();
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const link = await dialog.locator('.token-secret').innerText();
  await page.screenshot({ path: `.tap/sharing-${what === 'Look on' ? 'view' : 'control'}-link.png` });
  await page.keyboard.press('Escape');
  return link;
}

/** Follows a link as somebody who has to sign in first. */
async function follow(browser: Browser, link: string, username: string) {
  const { page, faults } = await openPage(browser);
  await page.goto(link);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await fillPerson(page, { email: username, password: PASSWORD });
  await page.locator('.xterm').waitFor();
  return { page, faults };
}

t.test('a terminal is shared by a link, typed in together, looked on at, and taken back', async (t) => {
  const [place, browser] = [await aPlace(t), await openBrowser(t)];
  if (place === null || browser === null) return;
  const service = await startService(t, place);
  const { address } = service;
  const call = client(address, await signInAdmin(service));
  await call('PATCH', '/api/admin/settings', { open_registration: true });
  for (const username of ['bob', 'eve']) {
    const person = { email: `${username}@example.org`, username, password: PASSWORD };
    t.equal((await client(address)('POST', '/api/auth/register', person)).status, 201);
  }
  const made = await call('POST', '/api/containers', { name: 'dev' });
  t.equal(made.status, 201);
  const at = `/containers/${made.body['db_id']}`;

  const owner = await openPage(browser);
  await owner.page.goto(`${address}/sign-in?next=${encodeURIComponent(at)}`);
  await fillPerson(owner.page, { email: ADMIN.username, password: ADMIN.password });
  await waitForLine(owner.page, PROMPT);
  await typeUntilAnswered(owner.page, 'echo "=$((6*7))="', /^=42=$/);

  const control = await makeLink(owner.page, 'Type along');
  const bob = await follow(browser, control, 'bob');
  t.equal(bob.page.url(), `${address}${at}`, 'the code is nowhere in the address');
  await waitForLine(bob.page, /^=42=$/);
  await typeUntilAnswered(bob.page, 'echo "=$((7*7))="', /^=49=$/);
  await waitForLine(owner.page, /^=49=$/);
  await bob.page.keyboard.press('Control+Shift+E');
  t.equal(await bob.page.getByRole('button', { name: 'Split right' }).count(), 0);
  t.equal(await bob.page.locator('.pane').count(), 1, 'what is shared is one terminal');
  await owner.page.locator('.participants', { hasText: 'bob' }).waitFor();
  await bob.page.locator('.participants', { hasText: ADMIN.username }).waitFor();

  await owner.page.setViewportSize({ width: 900, height: 500 });
  await typeLine(owner.page, 'clear; sleep 1; echo "<$(stty size)>"');
  const sized = /^<\d+ \d+>$/;
  await waitForLine(owner.page, sized);
  await waitForLine(bob.page, sized);
  const sizeOf = (page: Page): Promise<string> =>
    page.locator('.line-facts [title="Columns × rows"]').innerText();
  t.equal(await sizeOf(bob.page), await sizeOf(owner.page), 'the window of the owner rules');

  const view = await makeLink(owner.page, 'Look on');
  const eve = await follow(browser, view, 'eve');
  await eve.page.getByText('View only').waitFor();
  await waitForLine(eve.page, sized);
  await typeLine(eve.page, 'echo not-heard');
  await typeLine(owner.page, 'echo heard');
  await waitForLine(eve.page, /^heard$/);
  t.notMatch(await owner.page.locator('.xterm-rows').innerText(), /not-heard/);
  await eve.page.goto(address);
  await eve.page.getByText(`shared by ${ADMIN.username}`).waitFor();
  await eve.page.screenshot({ path: '.tap/sharing-list.png' });

  await owner.page.setViewportSize({ width: 1200, height: 720 });
  await owner.page.getByRole('button', { name: 'Share this terminal' }).click();
  await owner.page.getByText('eve', { exact: true }).waitFor();
  await owner.page.screenshot({ path: '.tap/sharing-dialog.png' });
  await owner.page.emulateMedia({ colorScheme: 'dark' });
  await owner.page.screenshot({ path: '.tap/sharing-dialog-dark.png' });
  await bob.page.setViewportSize({ width: 700, height: 400 });
  await typeLine(bob.page, 'seq 100');
  await waitForLine(bob.page, /^100$/);
  t.ok(await bob.page.getByText('100', { exact: true }).last().isVisible(), 'also in a smaller window');
  await bob.page.screenshot({ path: '.tap/sharing-control.png' });
  await owner.page.getByRole('button', { name: /^Remove bob/ }).click();
  await owner.page.getByText('Nobody has come yet.').waitFor();
  await bob.page.getByRole('heading', { name: 'dev is shared with you no more' }).waitFor();
  await bob.page.screenshot({ path: '.tap/sharing-ended.png' });
  await owner.page
    .locator('.shares li', { hasText: 'Type along' })
    .getByRole('button', { name: 'End' })
    .click();
  await owner.page.locator('.shares li', { hasText: 'Type along' }).waitFor({ state: 'detached' });

  await eve.page.goto(`${address}${at}`);
  await eve.page.getByText('View only').waitFor();
  await eve.page.emulateMedia({ colorScheme: 'dark' });
  await eve.page.screenshot({ path: '.tap/sharing-view-dark.png' });
  await eve.page.getByRole('button', { name: 'Terminal menu' }).click();
  await eve.page.getByRole('menuitem', { name: 'Leave for good' }).click();
  await eve.page.getByText('No containers yet').waitFor();

  await bob.page.goto(control);
  await bob.page.getByText('This link leads nowhere any more').waitFor();
  await bob.page.screenshot({ path: '.tap/sharing-gone.png' });
  const faults = [...owner.faults, ...bob.faults, ...eve.faults];
  t.same(
    faults.filter((fault) => !/status of 40[14]/.test(fault)),
    [],
    'nothing went wrong in the pages, and their policy was kept',
  );
  for (const secret of [control, view]) t.notOk(service.output().includes(secret.split('code=')[1] ?? '-'));
});
