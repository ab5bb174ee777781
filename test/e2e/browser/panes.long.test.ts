import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { typeLine } from '../../support/browser/page.ts';
import {
  answerOf,
  goTo,
  type PaneScene,
  paneScene,
  sizeOf,
  untilCount,
  untilPanes,
} from '../../support/browser/panes.ts';
import { eventually, waitFor } from '../../support/patience.ts';

const shared = await paneScene(t);
if (shared !== null) {
  await t.test(
    'a stop is shown once over all panes; another tab takes none; a returning user gets them back',
    (t) => goesAndComesBack(t, shared),
  );
  await t.test('dividers move by mouse and keys; the bar belongs to one pane; six are the most', (t) =>
    dividesAndFills(t, shared),
  );
}

async function goesAndComesBack(t: Test, scene: PaneScene): Promise<void> {
  const { page, faults, call, container, address } = scene;
  await page.keyboard.press('Control+Shift+O');
  await untilPanes(page, 2);
  await answerOf(page, 'tty');
  await call('POST', `/api/containers/${container}/stop`);
  await page.getByText('panes is stopped').waitFor();
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

  // As a browser does for a duplicated tab.
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
  await copy.close();
  await page.getByRole('button', { name: 'Use it here' }).click();
  await page.locator('.overlay-card').waitFor({ state: 'detached' });
  await goTo(page, 'Down', 1);
  await page.keyboard.press('Control+Shift+X');
  await untilPanes(page, 1);
  t.same(faults, []);
}

type Selecting = { selectLines(from: number, to: number): void; getSelection(): string };

/** The text that is selected in a pane; with `line` given, selects that line first. */
function selectionIn(page: Page, pane: number, line: number | null = null): Promise<string> {
  const host = page.locator('.pane').nth(pane).locator('.terminal-host');
  return host.evaluate((element, at) => {
    const { terminal } = (element as unknown as { berthScreen: { terminal: Selecting } }).berthScreen;
    if (at !== null) terminal.selectLines(at, at);
    return terminal.getSelection();
  }, line);
}

async function dividesAndFills(t: Test, { page, faults, call }: PaneScene): Promise<void> {
  await page.getByRole('button', { name: 'Split right' }).click();
  await untilPanes(page, 2);
  const half = await sizeOf(page);
  const line = page.getByRole('separator');
  t.equal(await line.getAttribute('aria-valuenow'), '50');
  const box = await line.boundingBox();
  const at = { x: box?.x ?? 0, y: (box?.y ?? 0) + 200 };
  await page.mouse.move(at.x + 3, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x - 100, at.y, { steps: 5 });
  await page.mouse.move(at.x - 297, at.y, { steps: 5 });
  await page.mouse.up();
  // The shell learns its new size a moment after the drag.
  const wide = await eventually(
    () => sizeOf(page),
    ({ cols }) => cols > half.cols * 1.4,
  );
  t.ok(wide.cols > half.cols * 1.4, `from ${half.cols} to ${wide.cols} columns, and the focus has stayed`);
  t.equal(await line.getAttribute('aria-valuenow'), '25');
  await line.focus();
  await page.keyboard.press('ArrowRight');
  t.ok(Number(await line.getAttribute('aria-valuenow')) > 25);
  await page.keyboard.press('Home');
  t.equal(await line.getAttribute('aria-valuenow'), await line.getAttribute('aria-valuemin'));
  await line.dblclick();
  t.equal(await line.getAttribute('aria-valuenow'), '50');

  // The bar belongs to the pane used last.
  await page.getByRole('button', { name: 'Record this terminal' }).click();
  await page.locator('.recording-mark').waitFor();
  await page.getByRole('button', { name: 'Stop recording' }).click();
  await page.locator('.recording-mark').waitFor({ state: 'detached' });
  const { body } = await call('GET', '/api/recordings');
  t.match(body['recordings'], [{ connection_id: /^pane-/ }]);
  await page.keyboard.press('Control+Shift+F');
  await page.locator('.pane').nth(1).getByLabel('Search the output').fill('o');
  const isMatchIn = async (colour: string): Promise<boolean> =>
    (await page.locator('.pane').nth(1).locator(`.xterm-rows span[style*="${colour}"]`).count()) > 0;
  await waitFor(() => isMatchIn('rgb(251, 231, 176)'), { what: () => 'a match in the light colour' });
  const selected = await selectionIn(page, 1, 0);
  t.not(selected.trim(), '');
  await page.emulateMedia({ colorScheme: 'dark' });
  await waitFor(() => isMatchIn('rgb(92, 71, 22)'), { what: () => 'the match in the dark colour' });
  t.equal(await selectionIn(page, 1), selected, 'what the user has selected stays so');
  await page.emulateMedia({ colorScheme: 'light' });
  t.equal(await page.locator('.pane').nth(0).locator('.search-bar').count(), 0);
  await page.keyboard.press('Escape');

  await page.keyboard.press('Control+Shift+O');
  await untilPanes(page, 3);
  await goTo(page, 'Left', 0);
  await page.keyboard.press('Control+Shift+X');
  await page.getByText('The main pane cannot be closed').waitFor();
  await page.getByRole('button', { name: 'Terminal menu' }).click();
  await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click();
  await page.getByText('Pane to the left').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Terminal menu' }).click();
  await page.getByRole('menuitem', { name: 'Split below' }).click();
  await untilPanes(page, 4);
  await answerOf(page, 'tty');
  await typeLine(page, 'ls --color=always -la /; git status');
  await page.keyboard.press('Control+Shift+O');
  await untilPanes(page, 5);
  await goTo(page, 'Up', 1);
  await page.keyboard.press('Control+Shift+E');
  await untilPanes(page, 6);
  await page.keyboard.press('Control+Shift+E');
  await page.getByText('You can have at most 6 panes').waitFor();
  t.equal(await page.getByRole('button', { name: 'Split right' }).isDisabled(), true);

  await untilCount(page, '.toast', 0);
  await page.setViewportSize({ width: 390, height: 700 });
  await page.getByRole('navigation', { name: 'Panes' }).waitFor();
  t.equal(await page.locator('.pane:visible').count(), 1, 'one at a time where there is little room');
  const narrow = await answerOf(page, 'tty');
  await page.getByRole('button', { name: /^Pane 1/ }).click();
  t.not(await answerOf(page, 'tty'), narrow);
  await page.setViewportSize({ width: 1200, height: 720 });
  await untilCount(page, '.pane:visible', 6);
  await page.setViewportSize({ width: 700, height: 420 });
  await typeLine(page, 'exit');
  await page.getByText('The shell has ended').waitFor();
  t.equal(await page.locator('.pane').count(), 6);
  await page.getByRole('button', { name: 'New shell' }).press('Enter');
  await answerOf(page, 'tty');
  t.same(faults, []);
}
