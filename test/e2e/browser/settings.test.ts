import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import t from 'tap';
import { fillPerson, focused, type Visit, visit } from '../../support/browser/page.ts';
import { run } from '../../support/database/database.ts';
import { client } from '../../support/process/running-service.ts';
import { codeAt, STEP_MS } from '../../support/service/factors.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

const dialogs = (page: Page) => page.locator('dialog[open]').count();

/** Turns the second factor on, with the previous step's code, so that the present one is unused. */
async function enrol({ page, person }: Visit): Promise<string> {
  await button(page, 'Set up').click();
  await page.getByText('Confirm it’s you').waitFor();
  t.equal(await focused(page), 'password', 'one can type at once');
  t.equal(await page.locator('.secret').count(), 0, 'the secret is not shown to somebody else');
  await page.keyboard.type('not the password');
  await page.keyboard.press('Enter');
  await page.getByText('Wrong password').waitFor();
  await page.fill('[name=password]', person.password);
  await page.keyboard.press('Enter');
  const secret = (await page.locator('.secret code').innerText()).replaceAll(' ', '');
  await page.fill('[name=code]', '000000');
  await page.keyboard.press('Enter');
  await page.getByText('Wrong code').waitFor();
  t.equal(await dialogs(page), 1, 'no dialog stands upon another');
  t.ok(await page.locator('.secret').isVisible(), 'a wrong code is corrected where it was typed');
  await untilAccepted(page, () => codeAt(secret, new Date(Date.now() - STEP_MS)));
  await page.getByText('Save your recovery codes').waitFor();
  t.equal(await page.locator('.codes li').count(), 10);
  await button(page, 'I have saved them').click();
  await page.getByText('10 recovery codes left').waitFor();
  return secret;
}

async function signOutAndIn({ page, person }: Visit, secret: string): Promise<void> {
  await page.getByRole('button', { name: person.username }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.waitForURL(/\/sign-in/);
  await fillPerson(page, { email: person.username, password: person.password });
  await page.getByText('One more step').waitFor();
  t.equal(await focused(page), 'code', 'one can type at once');
  await page.fill('[name=code]', 'not a code');
  await page.keyboard.press('Enter');
  await page.getByText('This code was not accepted').waitFor();
  await untilAccepted(page, () => codeAt(secret, new Date()));
  await page.getByText('10 recovery codes left').waitFor();
}

/** Types a code, and another one if its time was over. */
async function untilAccepted(page: Page, code: () => string): Promise<void> {
  for (let tries = 0; tries < 2; tries += 1) {
    const answer = page.waitForResponse((one) => /\/mfa(\/confirm)?$/.test(one.url()));
    await page.fill('[name=code]', code());
    await page.keyboard.press('Enter');
    if ((await answer).ok()) return;
  }
  throw new Error('no code was accepted');
}

async function createToken(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'API tokens' }).click();
  await button(page, 'New token').click();
  await page.fill('dialog [name=name]', 'deploy');
  await page.keyboard.press('Enter');
  const token = await page.locator('.token-secret').innerText();
  await button(page, 'Done').click();
  await page.getByText('deploy', { exact: true }).waitFor();
  return token;
}

t.test('second factor, API token and screen lock work from the pages alone', async (t) => {
  const scene = await visit(t);
  if (scene === null) return;
  const { address, page, person, service } = scene;

  await page.goto(`${address}/settings/security`);
  await button(page, 'Set up').waitFor();
  const anHourAgo = "update sessions set signed_in_at = signed_in_at - interval '1 hour'";
  await run(service.database, `${anHourAgo} where user_id = '${person.id}'`);
  const secret = await enrol(scene);
  await signOutAndIn(scene, secret);
  t.pass('the code of the app opens the account, and leads back to where one was');

  const token = await createToken(page);
  const asToken = client(address, token);
  t.match(await asToken('GET', '/api/tokens/validate'), { status: 200, body: { scopes: ['read', 'write'] } });
  await button(page, 'Revoke').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText(/revoked just now/).waitFor();
  t.equal((await asToken('GET', '/api/tokens/validate')).status, 401);

  await page.getByRole('link', { name: 'Security' }).click();
  await page.fill('[name=passcode]', '2468');
  await button(page, 'Set passcode').click();
  await page.getByText('Passcode set').waitFor();
  await page.getByRole('link', { name: 'Profile' }).click();
  await page.fill('[name=username]', 'half-typed');
  await page.getByRole('heading', { name: 'Settings' }).click();
  await page.keyboard.press('Shift+L');
  await page.getByRole('heading', { name: 'Locked' }).waitFor();
  t.notOk(await page.locator('[name=username]').isVisible(), 'nothing below the lock is shown');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.fill('[name=passcode]', '1357');
  await page.keyboard.press('Enter');
  await page.getByText('Wrong passcode').waitFor();
  await page.fill('[name=passcode]', '2468');
  await page.keyboard.press('Enter');
  await page.locator('.lock-screen').waitFor({ state: 'detached' });
  t.equal(await page.inputValue('[name=username]'), 'half-typed', 'the page below kept its state');
});

const CONTAINER = '5f0c2a91-7d3e-4b7a-9c55-0d1e2f3a4b5c';
const rows = (page: Page) => page.locator('table.audit tbody tr.record');

async function saved(page: Page, name: string): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name, exact: true }).click(),
  ]);
  return await text(await download.createReadStream());
}

t.test('the audit pages have filters, older records and files', async (t) => {
  const scene = await visit(t, { role: 'admin' });
  if (scene === null) return;
  const { address, page, person, service, faults } = scene;
  await run(
    service.database,
    `insert into audit_records (user_id, action, ip_address, user_agent, details, created_at)
     select null, 'login_failed', '203.0.113.' || n, 'Mozilla/5.0 (X11) Firefox/140.0', 'password',
       now() - n * interval '1 hour' from generate_series(1, 120) n`,
  );
  await run(
    service.database,
    `insert into audit_records (user_id, action, ip_address, user_agent, details, created_at)
     select '${person.id}', 'terminal_' || (array['opened', 'closed'])[1 + n % 2], '::1', '', '${CONTAINER}',
       now() - interval '1 month' + n * interval '1 second' from generate_series(2, 7) n`,
  );

  await page.goto(`${address}/admin/audit`);
  await rows(page).filter({ hasText: person.username }).first().waitFor();
  const shown = await rows(page).count();
  await page.getByRole('button', { name: 'Show older' }).click();
  await rows(page).nth(shown).waitFor();

  const csv = await saved(page, 'CSV');
  t.ok(csv.split('\r\n').length > 121, 'the whole of it, not a page');
  t.match(csv, /^created_at,username,action/);

  await page.getByLabel('Who').fill(person.email.toUpperCase());
  await page.keyboard.press('Enter');
  await rows(page).filter({ hasText: 'Failed to sign in' }).first().waitFor({ state: 'detached' });
  await page.getByLabel('Action').fill('Exported the audit');
  await page.keyboard.press('Enter');
  await rows(page).filter({ hasText: 'Viewed the audit' }).first().waitFor({ state: 'detached' });
  await rows(page).filter({ hasText: 'Exported the audit' }).first().waitFor();
  await page.getByLabel('Action').fill('no_such_action');
  await page.keyboard.press('Enter');
  await page.getByText('No matching records.').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await rows(page).first().waitFor();

  await page.goto(`${address}/settings/activity`);
  await rows(page).first().waitFor();
  t.notOk((await rows(page).allInnerTexts()).join().includes('Failed to sign in'), 'others are not in it');
  const fold = rows(page).filter({ hasText: 'Opened and closed 3 terminals of container 5f0c2a91' });
  t.notOk(await fold.locator('pre').first().isVisible(), 'the raw records are folded');
  await fold.locator('summary').focus();
  await page.keyboard.press('Enter');
  await fold.getByText('"action": "terminal_closed"').nth(2).waitFor();
  t.equal(await fold.getByText(CONTAINER).count(), 6, 'each record as it is');
  const own = await saved(page, 'NDJSON');
  t.match(own, '"action":"audit_exported"');
  await page.setViewportSize({ width: 390, height: 780 });
  await page.goto(`${address}/admin/audit`);
  await rows(page).first().waitFor();
  t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'fits a phone');
  t.same(faults, [], 'nothing went wrong in the page');
});

t.test('an administrator makes a role by keyboard, and follows its installation', async (t) => {
  const scene = await visit(t, { role: 'admin' });
  if (scene === null) return;
  const { address, page, faults, call } = scene;
  await page.goto(`${address}/admin/roles`);
  const add = page.getByRole('button', { name: 'Add a toolset' });
  await add.focus();
  await page.keyboard.press('Enter');
  await page.locator('input:focus').waitFor();
  await page.keyboard.type('broken');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Broken tools');
  await page.getByLabel('Packages for apt').fill('--force');
  await page.getByLabel('Script').fill('echo no luck; exit 7');
  await page.getByLabel('Label').press('Enter');
  await page.getByText('Must be package names').waitFor();
  await page.getByLabel('Packages for apt').fill('');
  await page.getByLabel('Label').press('Enter');
  await page.getByText('Broken tools saved').waitFor();
  await page.locator('.item', { hasText: 'Runs a script.' }).waitFor();
  t.equal(await page.locator(':focus').innerText(), 'Add a toolset', 'the focus is where it was');

  const made = await call('POST', '/api/containers', {
    name: 'dev',
    role: 'broken',
    memory_mb: 256,
    cpu_shares: 500,
    disk_mb: 512,
  });
  t.equal(made.status, 201);
  await page.goto(address);
  const link = page.getByRole('button', { name: 'Tools of dev: tools are missing' });
  await link.click();
  await page.getByText('no luck').waitFor();
  await page.getByText('exited with code 7').waitFor();

  await call('PATCH', '/api/admin/roles/broken', { script: 'echo better now; sleep 300' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('better now').waitFor();
  await page.getByRole('button', { name: 'Cancel installation' }).click();
  await page.getByText('cancelled').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('dev', { exact: true }).click();
  await page.getByRole('button', { name: 'Tools of dev: tools are missing' }).waitFor();

  await page.goto(`${address}/admin/roles`);
  await page.getByRole('button', { name: 'Delete Broken tools' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('It is still in use').waitFor();
  t.same(
    faults.filter((fault) => !/status of (400|409)/.test(fault)),
    [],
    'nothing went wrong in the page, and its policy was kept',
  );
});
