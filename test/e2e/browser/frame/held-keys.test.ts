import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { aScene, signedIn } from '../../../support/browser/memory-page.ts';
import { untilPanes } from '../../../support/browser/panes.ts';
import { paste } from '../../../support/browser/paste.ts';
import { waitFor } from '../../../support/patience.ts';
import { aPerson } from '../../../support/service/service.ts';
import { fakeTerminals } from '../../../support/terminal/terminals.ts';

const CTRL_C = '\x03';
const CTRL_X = '\x18';

/** A terminal that has said `ready`, in a page that may use the clipboard. */
async function aTerminal(t: Test, options = {}) {
  const terminals = fakeTerminals();
  const scene = await aScene(t, { terminalBackend: terminals });
  if (scene === null) return null;
  const { browser, paged } = scene;
  const id = await paged.container(await aPerson(paged.service, 'ada'), 'calm-bay');
  const permissions = ['clipboard-read', 'clipboard-write'];
  const { page, faults } = await signedIn(browser, paged, 'ada', `/containers/${id}`, {
    ...options,
    permissions,
  });
  await waitFor(() => terminals.opened.length === 1);
  terminals.opened[0]?.say('ready\r\n');
  await page.locator('.xterm-rows > div', { hasText: 'ready' }).waitFor();
  const typed = (): string => terminals.opened.map((one) => one.typed()).join('');
  return { page, faults, typed };
}

/** Holds a key down, beside modifiers, until it has repeated twice. */
async function hold(
  page: Page,
  modifiers: readonly string[],
  key: string,
  afterFirst: () => Promise<unknown>,
) {
  for (const modifier of modifiers) await page.keyboard.down(modifier);
  await page.keyboard.down(key);
  await afterFirst();
  await page.keyboard.down(key);
  await page.keyboard.down(key);
  await page.keyboard.up(key);
  for (const modifier of modifiers) await page.keyboard.up(modifier);
}

const clipboard = (page: Page) => page.evaluate('navigator.clipboard.readText()');

t.test('a key that is held down splits, closes and copies once', async (t) => {
  const scene = await aTerminal(t);
  if (scene === null) return;
  const { page, faults, typed } = scene;
  await hold(page, ['Control', 'Shift'], 'KeyE', () => untilPanes(page, 2));
  await page.keyboard.press('Control+Shift+O');
  await untilPanes(page, 3);
  await hold(page, ['Control', 'Shift'], 'KeyX', () => untilPanes(page, 2));
  await page.keyboard.type('x');
  await waitFor(() => typed().includes('x'));
  await untilPanes(page, 2);
  await hold(page, ['Control', 'Shift'], 'KeyX', () => untilPanes(page, 1));

  const selected = page.locator('.xterm-selection > div');
  const select = async (): Promise<void> => {
    await page.locator('.xterm-screen').dblclick({ position: { x: 10, y: 8 } });
    await selected.first().waitFor({ state: 'attached' });
  };
  const unselected = () => selected.first().waitFor({ state: 'detached' });
  await select();
  await hold(page, ['Control'], 'KeyC', unselected);
  await select();
  await hold(page, ['Control', 'Shift'], 'KeyC', unselected);
  await page.keyboard.press('Control+Shift+C');
  await page.keyboard.type('y');
  await waitFor(() => typed().includes('y'));
  t.notOk(typed().includes(CTRL_C), 'no program is interrupted');
  t.notOk(typed().includes(CTRL_X), 'the shell that is left gets no key of the page');
  t.equal(await clipboard(page), 'ready', 'nothing replaces what was copied');
  await page.keyboard.press('Control+C');
  await waitFor(() => typed().includes(CTRL_C), { what: 'a fresh press for the program' });
  t.same(faults, []);
});

t.test('the search field gets the focus again, and leaves keys to an input method', async (t) => {
  const scene = await aTerminal(t);
  if (scene === null) return;
  const { page, faults } = scene;
  await page.keyboard.press('Control+Shift+F');
  const field = page.getByLabel('Search the output');
  await page.keyboard.type('rea');
  const isFocused = () => field.and(page.locator(':focus')).waitFor();
  await page.locator('.terminal-host').click();
  await page.locator('.xterm-helper-textarea:focus').waitFor();
  await page.keyboard.press('Control+Shift+F');
  await isFocused();
  await page.keyboard.type('ready');
  t.equal(await field.inputValue(), 'ready', 'new text takes the place of the old');
  await field.dispatchEvent('keydown', { key: 'Escape', isComposing: true });
  t.equal(await field.count(), 1, 'an Escape of the input method is its own');
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  t.same(faults, []);
});

t.test('a modifier of the key bar changes no pasted text', async (t) => {
  const scene = await aTerminal(t, { hasTouch: true, isMobile: true });
  if (scene === null) return;
  const { page, faults, typed } = scene;
  await page.evaluate("navigator.clipboard.writeText('ls')");
  const ctrl = page.getByRole('button', { name: /^Ctrl, control/ });
  await ctrl.tap();
  await ctrl.tap();
  await page.getByRole('button', { name: 'Ctrl, control, locked' }).waitFor();
  await page.getByRole('button', { name: 'Paste' }).tap();
  await waitFor(() => typed() !== '');
  t.equal(typed(), 'ls');
  await paste(page, 'ls');
  await waitFor(() => typed() !== 'ls');
  t.equal(typed(), 'lsls', 'nor that of the browser');
  await page.keyboard.insertText('c');
  await waitFor(() => typed().endsWith(CTRL_C));
  t.same(faults, []);
});
