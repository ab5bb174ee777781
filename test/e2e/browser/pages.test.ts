import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import {
  anotherSession,
  atTheList,
  fillPerson,
  focused,
  newContainer,
  PROMPT,
  typeLine,
  typeUntilAnswered,
  type Visit,
  visit,
  waitForLine,
} from '../../support/browser/page.ts';
import { sizeOf } from '../../support/browser/panes.ts';
import { eventually, waitFor } from '../../support/patience.ts';

/** Changes are executed, but their answers do not arrive; the page's next requests wait for `recover`. */
async function loseAnswers(page: Page): Promise<{ recover(): void }> {
  const waiting: (() => void)[] = [];
  let isLost = true;
  await page.route('**/api/containers/*{,/stop}', async (route) => {
    if (!isLost) return await route.continue();
    if (route.request().method() === 'GET') {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return await route.continue();
    }
    await route.fetch();
    await route.abort('connectionreset');
  });
  return {
    recover() {
      isLost = false;
      for (const go of waiting) go();
    },
  };
}

/** Makes the container `web-api` while the terminal's part of the page fails to load. */
async function loadsAfterFailure(t: Test, page: Page): Promise<void> {
  let failed = 0;
  let loads = 0;
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads += 1;
  });
  await page.route(/assets\/screen-.*\.js/, async (route) => {
    if (loads > 0) return await route.continue();
    failed += 1;
    await route.abort('internetdisconnected');
  });
  await newContainer(page, 'web-api');
  await waitForLine(page, PROMPT);
  t.ok(failed > 0);
  t.equal(loads, 1, 'the whole page is loaded once more, and not twice');
}

const chooseFromMenu = async (page: Page, name: string, item: string): Promise<void> => {
  await page.getByRole('button', { name: `More for ${name}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
};

t.test('a shell opened by keyboard alone survives a reload', async (t) => {
  const scene = await visit(t);
  if (scene === null) return;
  const { page, faults } = scene;
  await atTheList(scene);
  await newContainer(page, 'calm-harbor');
  await waitForLine(page, PROMPT);
  await typeLine(page, 'echo "=$((6*7))="');
  await waitForLine(page, /^=42=$/);
  // on a busy machine the font comes late, and changes the size
  t.not((await sizeOf(page)).cols, 80, 'the shell has the size of the window');

  await typeLine(page, "printf '\\033[38;2;1;2;3mcoloured\\033[0m\\n'; KEPT=in-this-shell");
  await waitForLine(page, /^coloured$/);
  await page.reload();
  await waitForLine(page, PROMPT);
  await typeLine(page, 'echo "=$KEPT="');
  await waitForLine(page, /^=in-this-shell=$/);

  await t.test('new limits show what they cost, and keep installed software on request', () =>
    changesLimits(scene),
  );
  t.same(faults, [], 'nothing went wrong in the page, and its policy was kept');
});

async function changesLimits(scene: Visit): Promise<void> {
  const { address, page } = scene;
  await typeLine(page, 'echo 12345 > /usr/local/bin/tool; echo =written=');
  await waitForLine(page, /^=written=$/);
  await page.goto(address);
  const dialog = page.getByRole('dialog');
  await choosesSmall(scene);
  await dialog.getByText('This would be lost:').waitFor();
  await dialog.getByLabel('Keep what was installed').check();
  await dialog.getByText('This is kept:').waitFor();
  await dialog.getByRole('button', { name: 'Save and restart' }).click();
  await page.getByText('calm-harbor is running with its new limits').waitFor();
  await page.getByRole('link', { name: 'calm-harbor' }).click();
  await waitForLine(page, PROMPT);
  await typeLine(page, 'cat /usr/local/bin/tool');
  await waitForLine(page, /^12345$/);
}

/** An engine that is too busy to compare all files does so when it is asked again, and then for the dialog too. */
async function choosesSmall({ call, page }: Visit): Promise<void> {
  const { body } = await call('GET', '/api/containers?name=calm-harbor');
  const [{ db_id: id }] = body['containers'] as [{ db_id: string }];
  const isCompared = async () =>
    (await call('GET', `/api/containers/${id}/changes`)).body['complete'] === true;
  const dialog = page.getByRole('dialog');
  const found = dialog.getByText('/usr/local/bin/tool: 1 added');
  const notFound = dialog.getByText(/Berth could not check|This list is incomplete/);
  for (;;) {
    await waitFor(isCompared, { patienceMs: 120_000, what: 'a complete comparison' });
    await chooseFromMenu(page, 'calm-harbor', 'Settings…');
    await dialog.getByText('Small').click();
    await found.or(notFound).first().waitFor({ timeout: 120_000 });
    if ((await found.count()) > 0) return;
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  }
}

t.test('stop, start and delete say what they do, and do it', async (t) => {
  const scene = await visit(t);
  if (scene === null) return;
  const { address, page } = scene;
  await atTheList(scene);
  await t.test(
    'a part of the page that failed to load is requested again, if need be with the whole page',
    (t) => loadsAfterFailure(t, page),
  );

  const other = await page.context().newPage();
  await other.goto(address);
  await chooseFromMenu(other, 'web-api', 'Stop…');
  await other.getByRole('button', { name: 'Stop', exact: true }).click();
  await other.getByText('stopped', { exact: true }).waitFor();
  await page.getByText('web-api is stopped').waitFor();
  t.pass('an open terminal says that its container is stopped');
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByText('web-api is stopped').waitFor({ state: 'detached' });
  await typeUntilAnswered(page, 'echo "=again="', /^=again=$/);

  await newContainer(other, 'web-api');
  await other.getByText('You already have a container with this name.').waitFor();
  t.pass('a taken name is reported at its field');
  await other.keyboard.press('Escape');

  const line = await loseAnswers(other);
  await chooseFromMenu(other, 'web-api', 'Stop…');
  await other.getByRole('button', { name: 'Stop', exact: true }).click();
  await other.getByText('Could not confirm that web-api was stopped').waitFor();
  line.recover();
  await other.getByText('web-api is stopped').waitFor();
  t.pass('a lost answer is no failure: the page checks, and shows the result');

  await chooseFromMenu(other, 'web-api', 'Delete…');
  await other.getByText('/workspace').first().waitFor();
  await other.getByText('are kept for 8 days').waitFor();
  await other.getByRole('button', { name: 'Delete', exact: true }).click();
  await other.getByRole('heading', { name: 'No containers' }).waitFor();
  await page.getByText('This container is gone').waitFor();
  t.pass('an open terminal says that its container is gone');
});

t.test('the list shows changes from elsewhere without polling', async (t) => {
  const scene = await visit(t);
  if (scene === null) return;
  const { page, faults, call } = scene;
  await page.clock.install();
  const opened = page.waitForEvent('websocket');
  await atTheList(scene);
  t.equal(new URL((await opened).url()).pathname, '/api/events');
  let checks = 0;
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/containers') checks += 1;
  });
  /** The number of list requests in nine seconds, which would be two without events. */
  const checksMeanwhile = async (): Promise<number> => {
    checks = 0;
    for (let seconds = 0; seconds < 9; seconds += 1) {
      await page.clock.fastForward(1_000);
      // A timer's request would precede this one.
      await page.evaluate("fetch('/api/version').then(() => null)");
    }
    return checks;
  };
  const quiet = await eventually(checksMeanwhile, (count) => count === 0);
  t.equal(quiet, 0, 'once the events have come');
  await page.clock.fastForward(60_000);
  await waitFor(() => checks > 0, { what: 'a check now and then: not everything is announced' });

  const { body } = await call('POST', '/api/containers', { name: 'from-afar' });
  await page.getByRole('link', { name: 'from-afar' }).waitFor();
  await page.getByText('running', { exact: true }).waitFor();
  await call('POST', `/api/containers/${body['db_id']}/stop`);
  await page.getByText('stopped', { exact: true }).waitFor();
  await call('DELETE', `/api/containers/${body['db_id']}`);
  await page.getByRole('link', { name: 'Recently deleted (1)' }).waitFor();
  await page.getByRole('heading', { name: 'No containers' }).waitFor();
  t.same(faults, []);
});

t.test('signing out reaches every tab, and signing in leads back', async (t) => {
  const scene = await visit(t);
  if (scene === null) return;
  const { address, page, person } = scene;
  await atTheList(scene);
  const other = await page.context().newPage();
  await other.goto(`${address}/nowhere`);
  await other.getByText('Page not found').waitFor();

  await page.getByRole('button', { name: person.username }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.waitForURL(/\/sign-in$/);
  await other.waitForURL(/\/sign-in\?next=%2Fnowhere$/);
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  t.equal(await focused(page), 'email', 'one can type at once');
  await fillPerson(page, { email: person.username, password: 'not the password' });
  await page.getByText('Wrong email, username or password').waitFor();
  t.equal(await page.locator('.page').count(), 0);
  t.equal(await focused(page), 'password');
  await page.keyboard.type(person.password);
  await page.keyboard.press('Enter');
  await page.getByText('No containers yet').waitFor();
  await other.waitForURL(`${address}/nowhere`);
  t.pass('one tab that signs in brings back the others');

  const elsewhere = await anotherSession(scene);
  t.equal((await elsewhere('POST', '/api/sessions/revoke-others', {})).status, 200);
  for (const one of [page, other]) {
    await one.getByText('This session was ended from another browser.').waitFor();
    await one.getByText('Your programs keep running.').waitFor();
  }
});
