import t from 'tap';
import { aScene, focusedName, signedIn, tabTo, test } from '../../support/browser/memory-page.ts';
import { waitFor } from '../../support/patience.ts';
import { anAdmin, aPerson, as } from '../../support/service/service.ts';
import { fakeTerminals } from '../../support/terminal/terminals.ts';

type Sizes = { scrollWidth: number; clientWidth: number };

test('a container without space outside its volume says so, and what to do', async (t, browser, paged) => {
  const ada = await aPerson(paged.service, 'ada');
  const id = await paged.container(ada, 'calm-bay');
  await paged.holds(id, 120, 300);
  const { page, faults } = await signedIn(browser, paged, 'ada');
  await page.getByText('Layer 0.1 of 2 GB').waitFor();
  await page.getByText('Disk 300 of 1000 MB').waitFor();
  t.equal(
    await page.getByRole('button', { name: 'Disk use of calm-bay' }).count(),
    0,
    'no warning while there is room',
  );

  await paged.holds(id, 1900);
  await page.reload();
  const warning = page.getByRole('button', { name: 'Disk use of calm-bay: layer almost full' });
  await warning.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Disk use of calm-bay' });
  await dialog.getByText('1900 of 2048 MB').waitFor();
  await dialog.getByText('Remove packages and files you do not need outside /workspace').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  t.match(await focusedName(page), /^Disk use of calm-bay/, 'the focus is back where it was');

  await paged.holds(id, 2049);
  await page.getByText('Stopped: layer over its limit').waitFor();
  await page.getByText('stopped', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'What to do' }).click();
  await dialog.getByText('Over its limit outside /workspace: 2049 of 2048 MB').waitFor();
  await dialog.getByText('Start the container and remove something').waitFor();
  await dialog.getByRole('button', { name: 'Settings…' }).click();
  await page.getByRole('dialog', { name: 'Settings of calm-bay' }).waitFor();

  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${paged.address}/containers/${id}`);
  await page.getByRole('heading', { name: 'calm-bay is stopped' }).waitFor();
  await page.getByText('remove something outside /workspace within a minute').waitFor();
  t.equal(await page.getByText('Start it to continue').count(), 0);
  await page.getByRole('button', { name: 'Disk use of calm-bay: layer over its limit' }).waitFor();
  const name = page.getByRole('heading', { level: 1 });
  t.ok(
    await name.evaluate(({ scrollWidth, clientWidth }: Sizes) => scrollWidth <= clientWidth),
    'the whole name is beside the warning on a phone',
  );
  t.same(faults, []);
});

test('deleted containers that use space are found, restored and deleted permanently', async (t, browser, paged) => {
  const root = as(paged.service, await anAdmin(paged.service));
  t.equal((await root('PATCH', '/api/admin/tiers/free', { max_containers: 1 })).statusCode, 200);
  const ada = await aPerson(paged.service, 'ada');
  for (const name of ['first', 'second']) {
    const id = await paged.container(ada, name);
    await paged.holds(id, 0, 300);
    await as(paged.service, ada)('DELETE', `/api/containers/${id}`);
  }
  const { page, faults } = await signedIn(browser, paged, 'ada');
  await page.keyboard.press('n');
  await page.getByText('Largest').waitFor();
  await page.getByLabel('Name').fill('third');
  await page.keyboard.press('Enter');
  await page.getByText('Deleted containers still count against your tier').waitFor();
  t.match(faults.splice(0), [/409/], 'what the browser says of a refusal');
  await page.getByRole('dialog').getByRole('link', { name: 'Recently deleted' }).click();
  await page.getByText('300 of 1000 MB in /workspace').first().waitFor();
  t.equal(await focusedName(page), 'Recently deleted', 'the keyboard starts at the top of the page');
  t.match(await page.locator('.item').allInnerTexts(), [/second.*kept until/s, /first.*kept until/s]);

  await tabTo(page, 'Delete first permanently');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Delete first permanently?' });
  await page.keyboard.type('second');
  await page.keyboard.press('Enter');
  await dialog.getByText('That is not the name. Type first.').waitFor();
  t.match(faults.splice(0), [/400/]);
  await dialog.getByLabel('Type first to confirm').fill('first');
  await page.keyboard.press('Enter');
  await page.getByText('first is permanently deleted').waitFor();
  await waitFor(async () => (await page.locator('.item').count()) === 1);
  await waitFor(async () => (await focusedName(page)) === 'Recently deleted');

  await tabTo(page, /^Restore\s+second$/);
  await page.keyboard.press('Enter');
  await page.getByText('There are no deleted containers').waitFor();
  await page.getByRole('main').getByRole('link', { name: 'All containers' }).click();
  await page.getByRole('link', { name: 'second' }).waitFor();
  t.same(faults, []);
});

test('a guest is told that nothing is kept', async (_t, browser, paged) => {
  await paged.service.ports.storage.repositories.settings.change({ guestsEnabled: true });
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${paged.address}/sign-in`);
  await page.getByRole('button', { name: 'Continue as a guest' }).click();
  await page.getByText('No containers yet').waitFor();
  await page.keyboard.press('n');
  await page.getByText('Largest').waitFor();
  await page.getByLabel('Name').fill('brief');
  await page.keyboard.press('Enter');
  await page.locator('.terminal-bar .back').click();
  await page.getByRole('button', { name: 'More for brief' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page.getByText('You are a guest: the files in').waitFor();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('heading', { name: 'No containers' }).waitFor();
  await page.getByRole('link', { name: 'Recently deleted (1)' }).click();
  await page.getByText(/permanently deleted in 50 min/).waitFor();
});

test("users see their limits, and administrators change a tier's", async (t, browser, paged) => {
  await anAdmin(paged.service);
  const { page, faults } = await signedIn(browser, paged, 'root', '/admin/tiers');
  await page.getByRole('button', { name: 'Change enterprise' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change enterprise' });
  const field = (name: string) => dialog.getByLabel(name, { exact: true });
  await field('Uploads').fill('');
  await field('Open terminals').fill('20000');
  await page.keyboard.press('Enter');
  await dialog.getByText('Must be a whole number.').waitFor();
  t.equal(await field('Uploads').inputValue(), '', 'what was typed stays');
  t.equal(await field('Uploads').and(page.locator(':focus')).count(), 1);
  await field('Uploads').fill('7');
  await page.keyboard.press('Enter');
  await dialog.getByText('Must be a whole number from 0 to 10000.').waitFor();
  t.equal(await field('Open terminals').and(page.locator(':focus')).count(), 1);
  t.match(faults.splice(0), [/400/]);
  await field('Open terminals').fill('300');
  await field('Requests').fill('0');
  await page.keyboard.press('Enter');
  await page.getByText('enterprise saved').waitFor();

  // Credentials are cached for a second.
  paged.clock.advance(2_000);
  await page.goto(`${paged.address}/settings`);
  const limits = page.getByRole('region', { name: 'Your limits' });
  await limits.getByText('Your tier is “enterprise”').waitFor();
  const shown = await limits.locator('dd').allInnerTexts();
  t.same(shown, ['unlimited', '300 at once', '256 at once', '128 at once', '7 at once', '128 at once']);
  t.same(faults, []);
});

t.test('a fallback shell says so until dismissed', async (t) => {
  const scene = await aScene(t, { terminalBackend: fakeTerminals({ isFallback: true }) });
  if (scene === null) return;
  const { browser, paged } = scene;
  const id = await paged.container(await aPerson(paged.service, 'ada'), 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, 'ada', `/containers/${id}`);
  const note = page.getByText('Plain shell: tmux could not start');
  await note.waitFor();
  t.equal(await page.locator('.toast').count(), 0, 'and says it once');
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await note.waitFor({ state: 'detached' });
  t.same(faults, []);
});
