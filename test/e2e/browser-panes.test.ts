import type { Page } from 'playwright-core';
import t from 'tap';
import { shoot, shootBoth, typeLine } from '../support/browser/page.ts';
import {
  answerOf,
  goTo,
  paneScene,
  sessionsIn,
  sizeOf,
  until,
  untilPanes,
} from '../support/browser/panes.ts';

t.setTimeout(300_000);

const untilTitled = (page: Page, isSo: (title: string) => boolean) => until(page, () => page.title(), isSo);

t.test('each pane has a shell of its own, that outlives a reload and ends when it is closed', async (t) => {
  const scene = await paneScene(t);
  if (scene === null) return;
  const { page, faults } = scene;
  const alone = await sizeOf(page);
  const main = await answerOf(page, 'tty');
  await page.keyboard.press('Control+Shift+E');
  await untilPanes(page, 2);
  const right = await answerOf(page, 'tty');
  t.not(right, main, 'another shell');
  const half = await sizeOf(page);
  t.ok(half.cols > alone.cols / 2 - 4 && half.cols < alone.cols / 2, `${half.cols} of ${alone.cols} columns`);
  t.equal(half.rows, alone.rows);
  await shootBoth(page, 'panes-two');
  await page.keyboard.press('Control+Shift+O');
  await untilPanes(page, 3);
  const below = await sizeOf(page);
  t.equal(below.cols, half.cols);
  t.ok(below.rows < alone.rows / 2, `${below.rows} of ${alone.rows} rows`);
  await typeLine(page, 'KEPT=below');

  await goTo(page, 'Left', 0);
  t.equal(await answerOf(page, 'tty'), main);
  t.equal((await sizeOf(page)).cols, half.cols);
  await goTo(page, 'Right', 1);
  t.equal(await answerOf(page, 'tty'), right);
  await typeLine(page, 'KEPT=right; PS1=; printf "\\033]0;a title\\007"');
  await untilTitled(page, (title) => title.startsWith('a title'));
  await goTo(page, 'Down', 2);
  await untilTitled(page, (title) => !title.startsWith('a title'));

  const before = await sessionsIn(scene);
  t.equal(before.length, 3, before.join(' '));
  await page.reload();
  await untilPanes(page, 3);
  t.equal(await answerOf(page, 'echo $KEPT'), 'below', 'the same pane has the focus, and the same shell');
  await goTo(page, 'Up', 1);
  t.equal(await answerOf(page, 'echo $KEPT'), 'right');
  t.same(await sessionsIn(scene), before);

  await goTo(page, 'Down', 2);
  await page.keyboard.press('Control+Shift+X');
  await untilPanes(page, 2);
  await until(
    page,
    () => sessionsIn(scene),
    (now) => now.length === 2,
  );
  t.equal((await sizeOf(page)).rows, alone.rows, 'the neighbour has its room, and the focus');
  t.equal(await answerOf(page, 'echo $KEPT'), 'right');
  await typeLine(page, 'exit');
  await untilPanes(page, 1);
  t.equal(await answerOf(page, 'tty'), main, 'a shell that ends gives its room and the focus away');
  t.same(await sizeOf(page), alone);
  t.same(await sessionsIn(scene), ['main']);
  await typeLine(page, 'exit');
  await page.getByText('The shell has ended').waitFor();
  t.equal(await page.locator('.pane').count(), 1, 'the main pane stays');
  t.same(faults, []);
});

t.test(
  'a stop is told once over all panes; another tab takes none; who leaves comes back to them',
  async (t) => {
    const scene = await paneScene(t);
    if (scene === null) return;
    const { page, faults, call, container, address } = scene;
    await page.keyboard.press('Control+Shift+O');
    await untilPanes(page, 2);
    await answerOf(page, 'tty');
    await call('POST', `/api/containers/${container}/stop`);
    await page.getByText('panes is stopped').waitFor();
    await shoot(page, 'panes-stopped');
    t.equal(await page.locator('.overlay-card').count(), 1);
    await page.getByRole('button', { name: 'Start' }).click();
    await page.locator('.overlay-card').waitFor({ state: 'detached' });
    await answerOf(page, 'tty');
    await typeLine(page, 'KEPT=below');
    await goTo(page, 'Up', 0);
    await answerOf(page, 'tty');
    await goTo(page, 'Down', 1);

    await page.getByRole('link', { name: 'All containers' }).click();
    await page.getByRole('link', { name: 'panes' }).click();
    await untilPanes(page, 2);
    t.equal(await answerOf(page, 'echo $KEPT'), 'below', 'its programs have waited');

    // As a browser does when a tab is duplicated.
    const kept = await page.evaluate(() => JSON.stringify({ ...sessionStorage }));
    const copy = await page.context().newPage();
    await copy.goto(`${address}/nowhere`);
    await copy.evaluate((all) => Object.assign(sessionStorage, JSON.parse(all)), kept);
    await copy.goto(`${address}/containers/${container}`);
    await untilPanes(copy, 1);
    t.match(await answerOf(copy, 'tty'), /pts/);
    t.equal(await answerOf(page, 'echo $KEPT'), 'below', 'the pane is still where it was');
    t.equal(
      await page.getByText('Open in another window').count(),
      1,
      'the main one is in one window at a time',
    );
    await shoot(page, 'panes-replaced');
    await copy.close();
    await page.getByRole('button', { name: 'Use it here' }).click();
    await page.locator('.overlay-card').waitFor({ state: 'detached' });

    t.same(faults, []);
    await call('DELETE', `/api/containers/${container}`);
    await page.getByText('This container is gone').waitFor();
    t.equal(await page.locator('.overlay-card').count(), 1);
  },
);
