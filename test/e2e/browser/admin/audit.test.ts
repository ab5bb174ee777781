import { signedIn, tabTo, test } from '../../../support/browser/memory-page.ts';
import { anAdmin, aPerson, as } from '../../../support/service/service.ts';

test('names in the audit lead to the container and the person, while they exist', async (t, browser, paged) => {
  const root = await anAdmin(paged.service);
  const ada = await aPerson(paged.service, 'ada');
  const hers = as(paged.service, ada);
  const id = await paged.container(ada, 'old-bay');
  await paged.container(root, 'own-bay');
  await hers('DELETE', `/api/containers/${id}`);
  const { page, faults } = await signedIn(browser, paged, 'root', '/admin/audit');
  const row = (text: string) => page.locator('tr.record', { hasText: text });
  const gone = row('Deleted old-bay');
  await gone.getByRole('link', { name: 'old-bay' }).waitFor();
  t.equal(await gone.locator('.what > .icon-box').count(), 1, 'an icon says what it is about');
  t.match(
    await row('Created own-bay').getByRole('link', { name: 'own-bay' }).getAttribute('href'),
    /^\/containers\//,
    'an own one opens',
  );
  await tabTo(page, 'Who');
  await page.keyboard.type('ada');
  await page.keyboard.press('Enter');
  await row('Created own-bay').waitFor({ state: 'detached' });
  await tabTo(page, 'old-bay');
  await page.keyboard.press('Enter');
  await page.getByText('1 deleted found').waitFor();
  await page.goBack();
  await gone.getByRole('link', { name: 'ada', exact: true }).click();
  await page.locator('.person-name', { hasText: 'ada' }).waitFor();
  t.equal(await page.locator('.person-name').count(), 1, 'of one person');
  t.same(faults, []);
});
