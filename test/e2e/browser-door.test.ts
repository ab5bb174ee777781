import type { Page } from 'playwright-core';
import t from 'tap';
import { firstPage, tokenOfPerson } from '../support/first-page.ts';
import { openPage } from '../support/page.ts';
import { aPlace, client } from '../support/running-service.ts';

t.setTimeout(120_000);

const GUEST = 'Look around as a guest';

/** Opens the sign-in page with the answer about what is offered in the test's hand. */
async function atTheDoor(page: Page, address: string) {
  let asked = () => {};
  let answer = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/api/auth/options', async (route) => {
    asked();
    await mayAnswer;
    await route.continue();
  });
  await page.clock.install();
  await page.goto(`${address}/sign-in`);
  await isAsked;
  return { answer };
}

t.test('the sign-in page offers what is on, and nothing of it moves', async (t) => {
  const place = await aPlace(t);
  const visit = await firstPage(
    t,
    place && { ...place, env: { ...place.env, DOCKER_HOST: `unix://${place.dataDir}/nothing.sock` } },
  );
  if (visit === null) return;
  const { address, page } = visit;
  const browser = page.context().browser();
  if (browser === null) throw new Error('the browser has gone');
  const email = (one: Page) => one.getByLabel('Email or username');

  const { page: stranger } = await openPage(browser);
  const door = await atTheDoor(stranger, address);
  t.equal(await email(stranger).count(), 0, 'no form before it is known what belongs to it');
  door.answer();
  await email(stranger).waitFor();
  t.equal(await stranger.getByText(GUEST).count(), 0, 'guests are off as it comes');
  await stranger.screenshot({ path: '.tap/door-closed.png' });

  const admin = client(address, await tokenOfPerson(address));
  await admin('PATCH', '/api/admin/settings', { guests_enabled: true, open_registration: true });
  const { page: guest } = await openPage(browser);
  const open = await atTheDoor(guest, address);
  open.answer();
  await guest.getByText(GUEST).waitFor();
  await guest.screenshot({ path: '.tap/door-open.png' });
  await guest.getByText(GUEST).click();
  await guest.getByText('No containers yet').waitFor();

  const { page: patient } = await openPage(browser);
  await atTheDoor(patient, address);
  await patient.clock.runFor(2_000);
  await email(patient).waitFor();
  t.pass('a form without an answer lets people sign in');
});
