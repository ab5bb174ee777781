import t from 'tap';
import { shoot, shootBoth, typeLine } from '../support/browser/page.ts';
import { answerOf, goTo, paneScene, sizeOf, untilCount, untilPanes } from '../support/browser/panes.ts';

t.setTimeout(300_000);

t.test(
  'lines between panes are dragged and moved by keys; the bar is about one; six are the most',
  async (t) => {
    const scene = await paneScene(t);
    if (scene === null) return;
    const { page, faults, call } = scene;
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
    await shoot(page, 'panes-dragged');
    await page.mouse.move(at.x - 297, at.y, { steps: 5 });
    await page.mouse.up();
    const wide = await sizeOf(page);
    t.ok(wide.cols > half.cols * 1.4, `from ${half.cols} to ${wide.cols} columns, and the focus has stayed`);
    t.equal(await line.getAttribute('aria-valuenow'), '25');
    await line.focus();
    await page.keyboard.press('ArrowRight');
    t.ok(Number(await line.getAttribute('aria-valuenow')) > 25);
    await page.keyboard.press('Home');
    t.equal(await line.getAttribute('aria-valuenow'), await line.getAttribute('aria-valuemin'));
    await line.dblclick();
    t.equal(await line.getAttribute('aria-valuenow'), '50');

    // What the bar does is about the pane that was used last.
    await page.getByRole('button', { name: 'Record this terminal' }).click();
    await page.locator('.recording-mark').waitFor();
    await page.getByRole('button', { name: 'Stop recording' }).click();
    await page.locator('.recording-mark').waitFor({ state: 'detached' });
    const { body } = await call('GET', '/api/recordings');
    t.match(body['recordings'], [{ connection_id: /^pane-/ }]);
    await page.keyboard.press('Control+Shift+F');
    await page.locator('.pane').nth(1).getByLabel('Search the output').waitFor();
    t.equal(await page.locator('.pane').nth(0).locator('.search-bar').count(), 0);
    await page.keyboard.press('Escape');

    await page.keyboard.press('Control+Shift+O');
    await untilPanes(page, 3);
    await goTo(page, 'Left', 0);
    await page.keyboard.press('Control+Shift+X');
    await page.getByText('The main pane stays').waitFor();
    await page.getByRole('button', { name: 'Terminal menu' }).click();
    await shootBoth(page, 'panes-menu');
    await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click();
    await page.getByText('Pane to the left').waitFor();
    await shoot(page, 'panes-keys');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Terminal menu' }).click();
    await page.getByRole('menuitem', { name: 'Split below' }).click();
    await untilPanes(page, 4);
    await answerOf(page, 'tty');
    await typeLine(page, 'ls --color=always -la /; git status');
    await shootBoth(page, 'panes-four');
    await page.keyboard.press('Control+Shift+O');
    await untilPanes(page, 5);
    await goTo(page, 'Up', 1);
    await page.keyboard.press('Control+Shift+E');
    await untilPanes(page, 6);
    await page.keyboard.press('Control+Shift+E');
    await page.getByText('6 panes are the most').waitFor();
    t.equal(await page.getByRole('button', { name: 'Split right' }).isDisabled(), true);
    await shootBoth(page, 'panes-six');

    await untilCount(page, '.toast', 0);
    await page.setViewportSize({ width: 390, height: 700 });
    await page.getByRole('navigation', { name: 'Panes' }).waitFor();
    t.equal(await page.locator('.pane:visible').count(), 1, 'one at a time where there is little room');
    const narrow = await answerOf(page, 'tty');
    await shootBoth(page, 'panes-narrow');
    await page.getByRole('button', { name: /^Pane 1/ }).click();
    t.not(await answerOf(page, 'tty'), narrow);
    await page.setViewportSize({ width: 1200, height: 720 });
    await untilCount(page, '.pane:visible', 6);
    await page.setViewportSize({ width: 700, height: 420 });
    await typeLine(page, 'exit');
    await page.getByText('The shell has ended').waitFor();
    t.equal(await page.locator('.pane').count(), 6);
    await shoot(page, 'panes-ended');
    await page.getByRole('button', { name: 'New shell' }).press('Enter');
    await answerOf(page, 'tty');
    t.same(faults, []);
  },
);
