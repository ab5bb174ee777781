import type { Page } from 'playwright-core';
import { signedIn, test } from '../../support/browser/memory-page.ts';
import { anApiToken, aPerson } from '../../support/service/service.ts';

/** The page draws one operation alone: a busy machine needs minutes for the rest. */
async function drawOnly(page: Page, path: string): Promise<void> {
  await page.route('**/docs/json', async (route) => {
    const document = await (await route.fetch()).json();
    const { get } = document.paths[path];
    const responses = { 200: { description: 'Done.' } };
    const paths = { [path]: { get: { ...get, responses } } };
    const { securitySchemes } = document.components;
    await route.fulfill({ json: { ...document, paths, components: { securitySchemes } } });
  });
}

test('the API reference calls operations as its reader, or with a token', async (t, browser, paged) => {
  await aPerson(paged.service, 'ada');
  const { token } = await anApiToken(paged.service, await aPerson(paged.service, 'bob'));
  const { page, faults } = await signedIn(browser, paged, 'ada');
  const elsewhere: string[] = [];
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== paged.address && protocol !== 'data:') elsewhere.push(request.url());
  });
  await drawOnly(page, '/api/me');
  await page.goto(`${paged.address}/docs#/Account/account.read`);
  await page.getByRole('button', { name: 'Try it out' }).click();
  const execute = page.getByRole('button', { name: 'Execute' });
  const answer = page.locator('.live-responses-table');
  await execute.click();
  await answer.filter({ hasText: /"username": *"ada"/ }).waitFor();
  t.notMatch(await page.locator('.curl-command').innerText(), /Bearer/, 'the session is not shown');

  await page.getByRole('button', { name: 'Authorize', exact: true }).first().click();
  await page.locator('.modal-ux input').first().fill(token);
  await page.getByRole('button', { name: 'Apply credentials' }).first().click();
  await page.locator('.modal-ux .btn-done').first().click();
  await execute.click();
  await answer.filter({ hasText: /"username": *"bob"/ }).waitFor();
  t.same([faults, elsewhere], [[], []], 'the policy was kept, and nothing requested elsewhere');
});
