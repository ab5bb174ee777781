import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { type PagedService, signedIn, test } from '../../../support/browser/memory-page.ts';
import { waitFor } from '../../../support/patience.ts';
import { aPerson, as } from '../../../support/service/service.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const lockScreen = (page: Page) => page.getByRole('heading', { name: 'Locked' });

/** Counts the locks that the pages of this browser have requested. */
function lockCount(page: Page): () => Promise<number> {
  let count = 0;
  page.context().on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/sessions/lock') count += 1;
  });
  return async () => {
    // why: a timer's request would precede this one
    for (const each of page.context().pages()) await each.evaluate("fetch('/api/version').then(() => null)");
    return count;
  };
}

/** Types, less than a second apart, for longer than the limit of a minute. */
async function typeSteadily(page: Page): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press('Shift');
    await page.clock.fastForward(900);
  }
}

const wait = async (page: Page, minutes: number): Promise<void> => {
  for (let quarters = 0; quarters < 4 * minutes; quarters += 1) await page.clock.fastForward(15_000);
};

async function choose(page: Page, limit: string): Promise<void> {
  await page.getByLabel('Lock automatically').selectOption(limit);
  await page.getByText('Saved').first().waitFor();
  await page.getByText('Saved').waitFor({ state: 'detached' });
}

const setPasscode = async (t: Test, paged: PagedService) => {
  const ada = as(paged.service, await aPerson(paged.service, 'ada'));
  t.equal((await ada('PUT', '/api/me/lock', { passcode: '2468' })).statusCode, 200);
};

test('a new limit of inactivity applies to all tabs, and input in one of them to all', async (t, browser, paged) => {
  await aPerson(paged.service, 'ada');
  const { page: work, faults } = await signedIn(browser, paged, 'ada');
  await work.clock.install();
  const locks = lockCount(work);
  const settings = await work.context().newPage();
  await settings.goto(`${paged.address}/settings/security`);
  await settings.fill('[name=passcode]', '2468');
  await button(settings, 'Set passcode').click();
  await choose(settings, 'After 1 minute of inactivity');
  await work.bringToFront();
  await typeSteadily(work);
  t.equal(await locks(), 0, 'nobody is locked out while typing');

  await settings.bringToFront();
  await choose(settings, 'Never');
  await wait(work, 2);
  t.equal(await locks(), 0, 'no tab keeps the old limit');

  await choose(settings, 'After 1 minute of inactivity');
  await settings.close();
  await wait(work, 2);
  await lockScreen(work).waitFor();
  t.same(
    faults.filter((fault) => !fault.includes('423')),
    [],
    'nothing but refusals of requests that met the lock',
  );
});

test('a profile that could not be loaded is loaded again', async (t, browser, paged) => {
  await setPasscode(t, paged);
  const { page } = await signedIn(browser, paged, 'ada', '/sign-in');
  let refused = 0;
  await page.route('**/api/me', async (route) => {
    refused += 1;
    if (refused > 2) return await route.continue();
    await route.fulfill({ status: 503, json: { error: 'starting', code: 'starting' } });
  });
  await page.goto(`${paged.address}/settings`);
  await waitFor(() => refused > 2, { what: 'a profile that is requested again' });
  await page.getByLabel('Username').waitFor();
  await page.getByRole('heading', { name: 'Settings' }).click();
  await page.keyboard.press('Shift+L');
  await lockScreen(page).waitFor();
});

test('uploads wait while the screen is locked, and outlast their token', async (t, browser, paged) => {
  const ada = await aPerson(paged.service, 'ada');
  const id = await paged.container(ada, 'calm-bay');
  await as(paged.service, ada)('PUT', '/api/me/lock', { passcode: '2468' });
  const { page } = await signedIn(browser, paged, 'ada', `/containers/${id}`);
  const refusals = [
    { status: 423, json: { code: 'session_locked', error: 'session locked' } },
    { status: 401, json: { code: 'unauthorized', error: 'unauthorized' } },
  ];
  const stored: string[] = [];
  await page.route('**/files?path=*', async (route) => {
    if (route.request().method() !== 'PUT') return await route.fulfill({ json: { entries: [] } });
    const refusal = refusals.shift();
    if (refusal !== undefined) return await route.fulfill(refusal);
    stored.push(new URL(route.request().url()).searchParams.get('path') ?? '');
    await route.fulfill({ status: 201, json: {} });
  });
  const chosen = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Terminal menu' }).click();
  await page.getByRole('menuitem', { name: 'Upload files…' }).click();
  const files = ['a.txt', 'b.txt'].map((name) => ({
    name,
    mimeType: 'text/plain',
    buffer: Buffer.from('x'),
  }));
  await (await chosen).setFiles(files);
  await lockScreen(page).waitFor();
  t.same(stored, []);
  await page.fill('[name=passcode]', '2468');
  await page.keyboard.press('Enter');
  await waitFor(() => stored.length === 2, { what: () => `both files, not only ${stored}` });
  t.same(stored, ['/workspace/a.txt', '/workspace/b.txt']);
});
