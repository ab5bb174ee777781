import type { Browser, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { newContainer, openPage, shoot } from '../support/browser/page.ts';
import { asFirst, type SetUpVisit, setUp, setUpPage } from '../support/browser/visit.ts';
import { waitFor } from '../support/patience.ts';
import { small } from '../support/process/fault-scene.ts';
import { aQuickPlace } from '../support/process/running-service.ts';

t.setTimeout(240_000);

const GUEST = 'Look around as a guest';
const PAUSED_AT_MS = Date.now();
const email = (page: Page) => page.getByLabel('Email or username');

const scene = await setUpPage(t, await aQuickPlace(t, { DOCKER_HOST: 'unix:///nowhere/docker.sock' }));
if (scene !== null) {
  const browser = scene.page.context().browser() as Browser;
  await setUp(scene.page);
  await t.test('without an engine it starts degraded and says what mends it', (t) => isDegraded(t, scene));
  await t.test('and so does the page', (t) => pageSaysSo(t, scene));
  await t.test('the sign-in page offers what is on, and nothing of it moves', (t) =>
    offersWhatIsOn(t, scene, browser),
  );
}

async function isDegraded(t: Test, { running }: SetUpVisit): Promise<void> {
  t.match(running.output(), /no container engine/i);
  const call = await asFirst(running.address);
  const ready = await call('GET', '/readyz');
  t.equal(ready.status, 200);
  t.match(ready.body, { status: 'degraded', parts: { engine: { status: 'degraded', mend: /docker/i } } });
  t.same(await call('POST', '/api/containers', { name: 'dev', ...small }), {
    status: 500,
    body: { error: 'failed to create container', code: 'internal_error' },
  });
  t.match((await call('GET', '/api/containers')).body, { containers: [] });
}

async function pageSaysSo(t: Test, { page }: SetUpVisit): Promise<void> {
  await page.getByText('The container engine does not run').waitFor();
  t.match(await page.locator('.command code').innerText(), /^sudo /);
  await newContainer(page, 'too-early');
  await page.getByText('Failed to create container').waitFor();
  t.match(await page.locator('dialog .problem').innerText(), /engine does not run/);
}

async function offersWhatIsOn(t: Test, { address }: SetUpVisit, browser: Browser): Promise<void> {
  const { page: stranger } = await openPage(browser);
  const door = await atTheDoor(stranger, address);
  t.equal(await email(stranger).count(), 0, 'no form before it is known what belongs to it');
  await door.answer();
  await email(stranger).waitFor();
  t.equal(await stranger.getByText(GUEST).count(), 0, 'guests are off as it comes');
  await shoot(stranger, 'door-closed');

  const admin = await asFirst(address);
  await admin('PATCH', '/api/admin/settings', { guests_enabled: true, open_registration: true });
  const { page: guest } = await openPage(browser);
  const open = await atTheDoor(guest, address);
  await open.answer();
  await guest.getByText(GUEST).waitFor();
  await shoot(guest, 'door-open');
  await guest.getByText(GUEST).click();
  await guest.getByText('No containers yet').waitFor();

  const { page: patient } = await openPage(browser);
  await atTheDoor(patient, address);
  await patient.clock.runFor(2_000);
  await email(patient).waitFor();
  t.pass('a form without an answer lets people sign in');
}

/**
 * Opens the sign-in page with the answer about what is offered in the test's hand. The page shows its form without one
 * after a while, so its clock goes only as far as it must until it has asked.
 */
async function atTheDoor(page: Page, address: string) {
  let isAsked = false;
  let letThrough = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  await page.route('**/api/auth/options', async (route) => {
    isAsked = true;
    await mayAnswer;
    await route.continue();
  });
  await page.clock.install({ time: PAUSED_AT_MS - 1_000 });
  await page.clock.pauseAt(PAUSED_AT_MS);
  await page.goto(`${address}/sign-in`);
  await waitFor(async () => {
    await page.clock.runFor(20);
    return isAsked;
  });
  const answer = async (): Promise<void> => {
    letThrough();
    await page.clock.resume();
  };
  return { answer };
}
