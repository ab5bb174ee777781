import type { Page } from 'playwright-core';
import { signedIn, tabTo, test } from '../../../support/browser/memory-page.ts';
import { waitFor } from '../../../support/patience.ts';
import { aPerson } from '../../../support/service/service.ts';

const scrolledPx = (page: Page): Promise<number> => page.evaluate('scrollY');
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const isAt = (page: Page, px: number) =>
  waitFor(async () => (await scrolledPx(page)) === px, { what: `a page that is scrolled to ${px} px` });

/** Where it is: a click of the mouse would first scroll to the link. */
const follow = (page: Page, name: string) =>
  page.getByRole('link', { name, exact: true }).dispatchEvent('click');

test('each page begins at its top, and "Back" returns to where one was', async (t, browser, paged) => {
  const ada = await aPerson(paged.service, 'ada');
  for (const name of ['calm-bay', 'web-api', 'nightly', 'demo', 'build']) await paged.container(ada, name);
  const options = { viewport: { width: 1000, height: 300 } };
  const { page, faults } = await signedIn(browser, paged, 'ada', '/', options);
  await page.getByRole('link', { name: 'web-api' }).waitFor();
  await page.evaluate('scrollTo(0, 120)');
  await isAt(page, 120);
  await follow(page, 'Settings');
  await heading(page, 'Settings');
  await isAt(page, 0);
  await page.evaluate('scrollTo(0, 90)');
  await isAt(page, 90);
  await follow(page, 'Security');
  await page.getByRole('heading', { name: 'Screen lock' }).waitFor();
  await isAt(page, 0);

  await page.goBack();
  await page.getByLabel('Username').waitFor();
  await isAt(page, 90);
  await page.goBack();
  await heading(page, 'Containers');
  await isAt(page, 120);
  await page.goForward();
  await heading(page, 'Settings');
  await isAt(page, 90);
  await page.reload();
  await heading(page, 'Settings');
  await isAt(page, 90);

  await page.evaluate('scrollTo(0, 0)');
  await isAt(page, 0);
  await page.locator('.brand').focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await waitFor(async () => (await page.evaluate('document.activeElement.id')) === 'main', {
    what: 'the focus on the content',
  });
  await tabTo(page, 'Profile');
  t.same(faults, []);
});
