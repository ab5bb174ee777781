import { signedIn, test } from '../../../support/browser/memory-page.ts';
import { aPerson } from '../../../support/service/service.ts';

test('the page of SSH keys says what works on a server without an SSH port', async (t, browser, paged) => {
  await aPerson(paged.service, 'ada');
  const { page, faults } = await signedIn(browser, paged, 'ada', '/settings/ssh-keys');
  await page.getByText('This server has no SSH port').waitFor();
  await page.getByText('This server has none, so keys have no use yet').waitFor();
  t.equal(await page.getByText('Public keys that open your containers').count(), 0, 'which they do not');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: paged.address });
  await page.getByRole('button', { name: 'Copy the command' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  t.equal(await page.evaluate('navigator.clipboard.readText()'), 'berth ssh NAME');
  await page.getByRole('link', { name: 'Install the command' }).click();
  await page.getByRole('heading', { level: 2, name: 'Command line' }).waitFor();
  t.same(faults, []);
});
