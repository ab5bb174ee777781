import { signedIn, test } from '../../../support/browser/memory-page.ts';
import { aPerson, as } from '../../../support/service/service.ts';

test('a narrower token is made below another from its row, and ends with it', async (t, browser, paged) => {
  const ada = await aPerson(paged.service, 'ada');
  const dev = await paged.container(ada, 'dev');
  const deploy = { name: 'deploy', scopes: ['read', 'write'], expires_in: 1 };
  t.equal((await as(paged.service, ada)('POST', '/api/tokens', deploy)).statusCode, 201);
  const { page, faults } = await signedIn(browser, paged, 'ada', '/settings/tokens');
  const row = (name: string) =>
    page.locator('li.item').filter({ has: page.getByText(name, { exact: true }) });
  await row('deploy').getByRole('button', { name: 'Narrower token…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('assistant');
  await dialog.getByLabel('Write').uncheck();
  await dialog.getByLabel('dev', { exact: true }).check();
  t.same(
    await dialog.getByLabel('Valid for').locator('option').allInnerTexts(),
    ['30 minutes', '1 hour', '8 hours', 'As long as its parent token'],
    'no time is offered that would outlast it',
  );
  await dialog.getByLabel('Requests').fill('many');
  await dialog.getByRole('button', { name: 'Create token' }).click();
  await dialog.getByText('must be a whole number').waitFor();
  await dialog.getByLabel('Requests').fill('9');
  await dialog.getByRole('button', { name: 'Create token' }).click();
  const secret = await page.locator('.token-secret').innerText();
  await page.getByRole('button', { name: 'Done' }).click();
  const validate = () => as(paged.service, { token: secret })('GET', '/api/tokens/validate');
  const valid = await validate();
  t.equal(valid.statusCode, 200);
  t.match(valid.json(), { scopes: ['read'], containers: [dev], uses_left: 8 });
  await row('assistant').getByText('only for dev').waitFor();
  t.match(await row('assistant').getAttribute('style'), /--level: ?1/, 'it is below the other');
  t.equal(
    await row('assistant').getByRole('button', { name: 'Narrower token…' }).count(),
    0,
    'it is counted',
  );
  await page.setViewportSize({ width: 390, height: 800 });
  await row('assistant').scrollIntoViewIfNeeded();
  await row('deploy').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await row('assistant').getByText('with its parent token').waitFor();
  t.equal((await validate()).statusCode, 401);
  t.equal(faults.length, 1, `nothing but the refused form: ${faults}`);
});
