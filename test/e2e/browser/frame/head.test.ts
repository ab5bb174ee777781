import type { Page } from 'playwright-core';
import t from 'tap';
import { aScene, signedIn } from '../../../support/browser/memory-page.ts';
import { waitFor } from '../../../support/patience.ts';
import { aPerson, as } from '../../../support/service/service.ts';
import { fakeTerminals } from '../../../support/terminal/terminals.ts';

/** As if another tab came before it, or as if it were seen again. */
const becomes = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate((state) => {
    const { document } = globalThis as unknown as { document: EventTarget };
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

const hasIcon = (page: Page, icon: string): Promise<void> =>
  page.locator(`link[rel=icon][href="/${icon}.svg"]`).waitFor({ state: 'attached' });

t.test('the icon of a hidden tab shows output, failures, and a lost service', async (t) => {
  const terminals = fakeTerminals();
  const scene = await aScene(t, { terminalBackend: terminals });
  if (scene === null) return;
  const { browser, paged } = scene;
  const ada = await aPerson(paged.service, 'ada');
  const id = await paged.container(ada, 'calm-bay');
  const other = await paged.container(ada, 'web-api');
  const stop = await as(paged.service, ada)('POST', `/api/containers/${other}/stop`);
  t.equal(stop.statusCode, 200);
  const { page, faults } = await signedIn(browser, paged, 'ada', `/containers/${id}`);
  const says = async (text: string): Promise<void> => {
    for (const { say } of terminals.opened) say(`${text}\r\n`);
    await page.locator('.xterm-rows > div', { hasText: text }).waitFor();
  };
  await waitFor(() => terminals.opened.length > 0);
  await says('seen');
  await hasIcon(page, 'favicon');
  await becomes(page, 'hidden');
  await says('unseen');
  await hasIcon(page, 'favicon-output');
  await becomes(page, 'visible');
  await hasIcon(page, 'favicon');

  await becomes(page, 'hidden');
  paged.runtime.start = async () => {
    throw new Error('no');
  };
  await as(paged.service, ada)('POST', `/api/containers/${other}/start`);
  await hasIcon(page, 'favicon-fault');
  await says('later output');
  await hasIcon(page, 'favicon-fault');
  await becomes(page, 'visible');
  await hasIcon(page, 'favicon');
  t.same(faults, []);

  await page.context().setOffline(true);
  await hasIcon(page, 'favicon-fault');
  await page.context().setOffline(false);
  await hasIcon(page, 'favicon');
});
