import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { typeLine } from '../../support/browser/page.ts';
import {
  answerOf,
  goTo,
  type PaneScene,
  paneScene,
  sessionsIn,
  sizeOf,
  until,
  untilPanes,
} from '../../support/browser/panes.ts';

const untilTitled = (page: Page, isSo: (title: string) => boolean) => until(page, () => page.title(), isSo);

const scene = await paneScene(t);
if (scene !== null)
  await t.test('each pane has its own shell, which survives a reload and ends when closed', (t) =>
    hasItsShell(t, scene),
  );

async function hasItsShell(t: Test, scene: PaneScene): Promise<void> {
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
  await page.keyboard.press('Control+Shift+O');
  await untilPanes(page, 3);
  const below = await sizeOf(page);
  t.equal(below.cols, half.cols);
  t.ok(below.rows < alone.rows / 2, `${below.rows} of ${alone.rows} rows`);
  await typeLine(page, 'KEPT=below');

  await goTo(page, 'Left', 0);
  t.equal(await answerOf(page, 'tty'), main);
  const left = await sizeOf(page);
  t.ok(Math.abs(left.cols - half.cols) <= 1, `${left.cols} and ${half.cols} columns: one may not fit twice`);
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
  await page.getByRole('button', { name: 'New shell' }).press('Enter');
  t.match(await answerOf(page, 'tty'), /pts/, 'and has a new one when asked to');
  t.same(faults, []);
}
