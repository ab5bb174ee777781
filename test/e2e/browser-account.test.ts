import type { Page } from 'playwright-core';
import t from 'tap';
import { fillPerson, focused } from '../support/browser/page.ts';
import { type Visit, visit } from '../support/browser/visit.ts';
import { run } from '../support/database/database.ts';
import { client } from '../support/process/running-service.ts';
import { codeAt, STEP_MS } from '../support/service/factors.ts';

t.setTimeout(180_000);

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

const dialogs = (page: Page) => page.locator('dialog[open]').count();

/** Turns the second factor on, a while after signing in, with the code of a step ago: the present one is still unused. */
async function enrol({ page, person }: Visit): Promise<string> {
  await button(page, 'Set up').click();
  await page.getByText('Confirm that it is you').waitFor();
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
  await page.getByText('Keep your recovery codes').waitFor();
  t.equal(await page.locator('.codes li').count(), 10);
  await button(page, 'I have kept them').click();
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

/** Types a code, and another one when its time was over on the way. */
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

t.test('second factor, API token and screen lock, from the pages alone', async (t) => {
  const scene = await visit(t);
  if (scene === null) return;
  const { address, page, person, service } = scene;

  await page.goto(`${address}/settings/security`);
  await button(page, 'Set up').waitFor();
  const anHourAgo = "update sessions set created_at = created_at - interval '1 hour'";
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
