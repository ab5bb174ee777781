import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import t from 'tap';
import { violationsEverywhere } from '../../../support/browser/axe.ts';
import { openBrowser } from '../../../support/browser/chromium.ts';
import { aScene, signedIn, test } from '../../../support/browser/memory-page.ts';
import { openPage } from '../../../support/browser/page.ts';
import { waitFor } from '../../../support/patience.ts';
import { anAdmin, aPerson, as } from '../../../support/service/service.ts';
import { fakeTerminals } from '../../../support/terminal/terminals.ts';

type Scene = NonNullable<Awaited<ReturnType<typeof aScene>>>;

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

type InPage = {
  readonly innerHeight: number;
  readonly innerWidth: number;
  getBoundingClientRect(): Readonly<Record<'top' | 'right' | 'bottom', number>>;
};

/** Whether no edge of it but the left one is outside the window, but for rounding. */
const isOnScreen = (element: Locator): Promise<boolean> =>
  element.evaluate((self) => {
    const { top, right, bottom } = (self as unknown as InPage).getBoundingClientRect();
    const { innerHeight, innerWidth } = globalThis as unknown as InPage;
    return top >= 0 && bottom < innerHeight + 2 && right < innerWidth + 2;
  });

const isInHeight = (element: Locator): Promise<boolean> =>
  element.evaluate((self) => {
    const { top, bottom } = (self as unknown as InPage).getBoundingClientRect();
    return top >= 0 && bottom < (globalThis as unknown as InPage).innerHeight + 2;
  });

async function terminalOf(
  { browser, paged }: Scene,
  username: string,
  at: string,
  options: BrowserContextOptions,
): Promise<{ page: Page; faults: string[] }> {
  const opened = await signedIn(browser, paged, username, at, options);
  await opened.page.locator('.xterm-screen').waitFor();
  return opened;
}

t.test('a phone has the keys that its keyboard lacks, and room for a shared screen', async (t) => {
  const terminals = fakeTerminals();
  const scene = await aScene(t, { terminalBackend: terminals });
  if (scene === null) return;
  const { paged } = scene;
  const [ada, bob] = [await aPerson(paged.service, 'ada'), await aPerson(paged.service, 'bob')];
  const id = await paged.container(ada, 'calm-bay');
  const at = `/containers/${id}`;

  const phone = await terminalOf(scene, 'ada', at, PHONE);
  const key = (name: string | RegExp) => phone.page.getByRole('toolbar').getByRole('button', { name });
  await key('Tab').first().tap();
  await key('Control').tap();
  await phone.page.keyboard.insertText('c');
  await key('Alt').tap();
  await key('Left').tap();
  await key('Control').tap();
  await key('control, for the next key').tap();
  await phone.page.keyboard.insertText('a');
  await phone.page.keyboard.insertText('e');
  await key('control, locked').tap();
  await phone.page.keyboard.insertText('x');
  const typed = (): string => terminals.opened[0]?.typed() ?? '';
  await waitFor(() => typed().endsWith('x'), { what: () => JSON.stringify(typed()) });
  t.equal(typed(), '\t\x03\x1b[1;3D\x01\x05x');
  await phone.page.context().close();

  const owner = await terminalOf(scene, 'ada', at, { viewport: { width: 1440, height: 900 } });
  const shared = await as(paged.service, ada)('POST', `/api${at}/collaborations`, { mode: 'view' });
  await as(paged.service, bob)('POST', '/api/collaborations/join', { code: shared.json().code });
  const reader = await terminalOf(scene, 'bob', at, PHONE);
  const zoom = (name: string) => reader.page.getByRole('button', { name, exact: true });
  await zoom('100 %').and(reader.page.locator('[aria-pressed=true]')).waitFor();
  for (const { say } of terminals.opened) say(`${'\r\n'.repeat(60)}the-last-line`);
  const last = reader.page.locator('.xterm-rows > div', { hasText: 'the-last-line' });
  await last.waitFor();
  await waitFor(() => isInHeight(last), { what: 'the cursor is followed' });
  await zoom('Fit').tap();
  await waitFor(() => isOnScreen(reader.page.locator('.xterm-screen')), { what: 'all is seen' });
  t.same([...phone.faults, ...owner.faults, ...reader.faults], []);
});

test('the current tab stays in sight when a phone is turned', async (t, browser, paged) => {
  await anAdmin(paged.service);
  const at = '/admin/announcements';
  const { page, faults } = await signedIn(browser, paged, 'root', at, {
    ...PHONE,
    viewport: { width: 844, height: 390 },
  });
  const tab = page.locator('.tabs [aria-current]');
  await tab.waitFor();
  await page.setViewportSize(PHONE.viewport);
  await waitFor(() => isOnScreen(tab), { what: 'the tab is in sight' });
  t.same(faults, []);
});

t.test('the check for violations finds each in both sizes, and colours in both themes', async (t) => {
  const browser = await openBrowser(t);
  if (browser === null) return;
  const { page } = await openPage(browser);
  await page.setContent(`<!doctype html><html lang="en"><title>x</title><main><h1>x</h1>
    <button></button><button></button><p style="color: #bbb; background: #fff">pale</p></main></html>`);
  const found = (await violationsEverywhere(page)).map((each) => each.replace(/: <.*/, ''));
  const names = (width: number) => Array(2).fill(`light, ${width} px: button-name`);
  const colours = ['light', 'dark'].map((theme) => `${theme}, 1200 px: color-contrast`);
  t.same(found, [...names(1200), ...colours, ...names(390)]);
});
