import type { Page } from 'playwright-core';
import { violationsEverywhere } from '../../../support/browser/axe.ts';
import { focusedName, signedIn, tabTo, test } from '../../../support/browser/memory-page.ts';
import { focused, openPage } from '../../../support/browser/page.ts';
import { waitFor } from '../../../support/patience.ts';
import { logIn } from '../../../support/service/factors.ts';
import { anAdmin, aPerson, as, person } from '../../../support/service/service.ts';

const PASSWORD = person('x').password;

const choose = async (page: Page, username: string, item: string): Promise<void> => {
  await page.getByRole('button', { name: `More for ${username}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
};

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
/** The link that is shown, at the address of this service. */
async function linkIn(page: Page): Promise<string> {
  const { pathname, hash } = new URL(await page.locator('.token-secret').innerText());
  return new URL(pathname + hash, page.url()).href;
}
const row = (page: Page, name: string) => page.locator('.people tbody tr').filter({ hasText: name });

test('somebody is invited and joins by keyboard alone', async (t, browser, paged) => {
  await anAdmin(paged.service);
  const { page, faults } = await signedIn(browser, paged, 'root', '/admin');
  await row(page, 'root').waitFor();
  await tabTo(page, 'Invite');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Invite a person' }).waitFor();
  t.equal(await focused(page), 'email', 'one can type at once');
  await page.keyboard.type('ada@example.org');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Invitation', exact: true }).waitFor();
  t.equal(await focusedName(page), 'Done');
  const link = await linkIn(page);
  await page.keyboard.press('Enter');
  await page.getByText('Invitation for ada@example.org').waitFor();
  t.equal(await focusedName(page), 'Invite', 'the focus is back where it was');

  const guest = await openPage(browser);
  const asked: string[] = [];
  guest.page.on('request', (request) => asked.push(request.url()));
  await guest.page.goto(link);
  await guest.page.getByRole('heading', { name: 'You are invited' }).waitFor();
  t.notOk(guest.page.url().includes('code='), 'the code is gone from the address bar');
  t.notOk(
    asked.some((url) => url.includes(link.split('#code=')[1] ?? link)),
    'and was in no request',
  );
  t.equal(await focused(guest.page), 'username', 'the invited address is decided');
  await guest.page.keyboard.type('root');
  await guest.page.keyboard.press('Tab');
  await guest.page.keyboard.type(PASSWORD);
  await guest.page.keyboard.press('Enter');
  await guest.page.getByText('is already in use').waitFor();
  t.equal(await focused(guest.page), 'username', 'a fault can be corrected at once');
  await guest.page.keyboard.type('ada');
  await guest.page.keyboard.press('Enter');
  await guest.page.getByRole('heading', { level: 1, name: 'Containers' }).waitFor();
  t.equal((await logIn(paged.service, 'ada')).statusCode, 200);
  t.same(faults, []);

  const late = await openPage(browser);
  await late.page.goto(link);
  await late.page.getByText('This link is not valid').waitFor();
  await guest.page.goto(link);
  await guest.page.getByText('You are signed in as ada').waitFor();
  await press(guest.page, 'Sign out and continue');
  await guest.page.getByText('This link is not valid').waitFor();
});

test('a person is changed after a question, with a way back', async (t, browser, paged) => {
  await anAdmin(paged.service);
  const ada = await aPerson(paged.service, 'ada');
  await aPerson(paged.service, 'bob');
  await paged.container(ada, 'dev');
  const { page } = await signedIn(browser, paged, 'root', '/admin');
  t.match(await row(page, 'ada').innerText(), /User\s+free\s+1\/5/);
  const roleOf = async () => (await as(paged.service, ada)('GET', '/api/me')).json().role;

  await choose(page, 'ada', 'Make administrator…');
  await page.getByRole('heading', { name: 'Make ada an administrator?' }).waitFor();
  await press(page, 'Cancel');
  t.equal(await roleOf(), 'user');
  await choose(page, 'ada', 'Make administrator…');
  await press(page, 'Make administrator');
  await page.getByText('ada is now an administrator').waitFor();
  t.equal(await roleOf(), 'admin');
  await press(page, 'Undo');
  await waitFor(async () => (await roleOf()) === 'user');

  await choose(page, 'ada', 'Last day…');
  await press(page, 'Save');
  await page.getByText('Enter a complete date, or choose “No end”.').waitFor();
  t.equal(await focused(page), 'ends_at');
  await page.keyboard.type('0203');
  await press(page, 'Save');
  await page.getByText('Must be a complete date.').waitFor();
  await page.fill('[name=ends_at]', new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10));
  t.same(await violationsEverywhere(page), []);
  await press(page, 'Save');
  await page.getByText(/The account of ada ends on/).waitFor();
  await row(page, 'ada')
    .getByText(/ends on/)
    .waitFor();
  const endOf = async () => (await as(paged.service, ada)('GET', '/api/me')).json().ends_at;
  const end = await endOf();
  t.ok(end);
  await choose(page, 'ada', 'Last day…');
  await page.getByLabel('End of the account', { exact: true }).selectOption('No end');
  await page.getByLabel('End of the account', { exact: true }).selectOption('After a last day');
  await press(page, 'Save');
  await page.getByText('ada is unchanged').waitFor();
  t.equal(await endOf(), end);
  const warned = await signedIn(browser, paged, 'ada');
  await warned.page.getByText(/Your account ends on .*ask an administrator/).waitFor();
  t.same(await violationsEverywhere(warned.page), []);
  await warned.page.context().close();

  paged.clock.advance(16 * 60_000);
  await choose(page, 'ada', 'Reset password…');
  await press(page, 'Create link');
  await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
  await page.fill('[name=password]', PASSWORD);
  await press(page, 'Confirm');
  await page.getByRole('heading', { name: 'Reset link' }).waitFor();
  const link = await linkIn(page);
  await press(page, 'Done');

  const { passkeys } = paged.service.ports.storage.repositories;
  await passkeys.insert({
    userId: ada.id,
    credentialId: 'one',
    name: 'A phone of somebody',
    publicKey: Buffer.from([1]),
    counter: 0,
    transports: [],
    backedUp: false,
  });
  const other = await openPage(browser);
  await other.page.goto(link);
  await other.page.getByText('For ada.').waitFor();
  t.equal(await focused(other.page), 'password');
  await other.page.keyboard.type('a new one, longer than before');
  await other.page.keyboard.press('Enter');
  await other.page.getByRole('heading', { level: 1, name: 'What can still sign in as you' }).waitFor();
  await other.page.getByText('A phone of somebody').waitFor();
  t.same(await violationsEverywhere(other.page), []);
  await press(other.page, 'Delete');
  await other.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await other.page.getByText('Nothing else.').waitFor();
  t.same(await passkeys.listOf(ada.id), []);
  await press(other.page, 'Continue');
  await other.page.getByRole('heading', { level: 1, name: 'Containers' }).waitFor();

  await choose(page, 'ada', 'Disable…');
  await page.fill('[name=disabled_reason]', 'The project is over');
  await press(page, 'Disable');
  await row(page, 'disabled').waitFor();
  await other.page.getByText('Your account is disabled').waitFor();
  await other.page.fill('[name=email]', 'ada');
  await other.page.fill('[name=password]', 'a new one, longer than before');
  await other.page.keyboard.press('Enter');
  await other.page.getByText('“The project is over”').waitFor();
  t.same(await violationsEverywhere(other.page), []);

  await choose(page, 'ada', 'Delete…');
  await page.getByLabel('Give to another person').check();
  await page.getByLabel('New owner').fill('bob');
  await press(page, 'Delete');
  // The sign-in is not recent.
  await page.fill('[name=password]', PASSWORD);
  await press(page, 'Confirm');
  await page.getByText('ada is deleted').waitFor();
  await waitFor(async () => (await row(page, 'ada').count()) === 0);
  t.match(await row(page, 'bob').innerText(), /1\/5/);
});

const boxRow = (page: Page, name: string) => page.locator('.of-all li').filter({ hasText: name });

test('an administrator finds, stops, deletes and gives away a container, by keyboard', async (t, browser, paged) => {
  await anAdmin(paged.service);
  const [ada, bob] = [await aPerson(paged.service, 'ada'), await aPerson(paged.service, 'bob')];
  await paged.container(ada, 'dev');
  await paged.container(ada, 'old');
  await paged.container(bob, 'web');
  const hers = await signedIn(browser, paged, 'ada');
  const his = await signedIn(browser, paged, 'bob');
  const { page, faults } = await signedIn(browser, paged, 'root', '/admin');
  await page.getByRole('link', { name: '2/5 containers of ada' }).click();
  await boxRow(page, 'dev').waitFor();
  t.equal(await page.locator('.of-all li').count(), 2, 'hers alone');
  await press(page, 'Only ada (remove this filter)');
  await boxRow(page, 'web').waitFor();

  await tabTo(page, 'More for dev of ada');
  await page.keyboard.press('Enter');
  t.equal(await focusedName(page), 'Stop…');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Stop dev of ada?' }).waitFor();
  await page.keyboard.press('Shift+Tab');
  await press(page, 'Stop');
  await page.getByText('dev of ada is stopped').waitFor();
  await hers.page.getByText('An administrator stopped dev', { exact: true }).waitFor();
  await boxRow(page, 'dev').getByText('stopped').first().waitFor();

  await page.getByRole('button', { name: 'More for dev of ada' }).click();
  await page.getByRole('menuitem', { name: 'Give to…' }).click();
  t.equal(await focused(page), 'to', 'one can type at once');
  await page.keyboard.type('nobody');
  await page.keyboard.press('Enter');
  await page.getByText('nobody here has that name').waitFor();
  await page.fill('[name=to]', 'bob');
  await page.keyboard.press('Enter');
  await page.getByText('dev belongs to bob').waitFor();
  await hers.page.getByText('An administrator gave dev to bob', { exact: true }).waitFor();
  await his.page.getByText('An administrator gave dev to you', { exact: true }).waitFor();
  await his.page.getByRole('link', { name: 'dev' }).waitFor();

  t.same(faults, []);
  paged.clock.advance(16 * 60_000);
  await page.getByRole('button', { name: 'More for old of ada' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await press(page, 'Delete');
  await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
  await page.fill('[name=password]', PASSWORD);
  await press(page, 'Confirm');
  await page.getByText('old of ada is deleted').waitFor();
  await page.getByLabel('State').selectOption('deleted');
  await page.getByRole('button', { name: 'More for old of ada' }).click();
  await page.getByRole('menuitem', { name: 'Restore…' }).click();
  await press(page, 'Restore');
  await page.getByText('Nothing to restore').waitFor();
  // At once: what is typed limits the list of the state that was chosen after it.
  await page.getByLabel('Filter containers').fill('ada');
  await page.getByLabel('State').selectOption('');
  await page.getByText('1 found').waitFor();
  await boxRow(page, 'old').waitFor();
  t.equal(await page.locator('.of-all li').count(), 1);
});
