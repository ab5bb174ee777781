import type { Page } from 'playwright-core';
import t from 'tap';
import { aScene, signedIn, test } from '../../../support/browser/memory-page.ts';
import { waitFor } from '../../../support/patience.ts';
import { anAdmin, aPerson, as } from '../../../support/service/service.ts';
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

test('browsers can install the page, and a link to it has a preview without names', async (t, browser, paged) => {
  const root = await anAdmin(paged.service);
  const id = await paged.container(root, 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, 'root');
  const devtools = await page.context().newCDPSession(page);
  const { url, errors, data } = await devtools.send('Page.getAppManifest');
  t.equal(url, `${paged.address}/manifest.webmanifest`);
  t.same(errors, []);
  const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors');
  t.same(
    installabilityErrors.map(({ errorId }) => errorId).filter((each) => each !== 'in-incognito'),
    [],
  );
  const answer = await page.request.get(url);
  t.match(answer.headers(), { 'content-type': /^application\/manifest\+json/, 'cache-control': 'no-cache' });
  const html = await (
    await page.request.get(`${paged.address}/containers/${id}`, { headers: { accept: 'text/html' } })
  ).text();
  t.notMatch(html, 'calm-bay');
  t.match(html, /<title>Berth<\/title>/);
  t.match(html, /<meta property="og:title" content="Berth" \/>/);
  const named = [...html.matchAll(/(?:href|content|src)="(\/[^"]+)"/g)].map((each) => String(each[1]));
  const icons = (JSON.parse(String(data)) as { icons: { src: string; type: string }[] }).icons;
  for (const path of new Set([...named, ...icons.map(({ src }) => src)]))
    t.equal((await page.request.get(`${paged.address}${path}`)).status(), 200, path);
  for (const { src, type } of icons) {
    const { 'content-type': served } = (await page.request.get(`${paged.address}${src}`)).headers();
    t.match(served, new RegExp(`^${type.replace('+', '\\+')}`), src);
  }
  t.notMatch(html, /="https?:/, 'nothing comes from elsewhere');
  t.same(faults, []);
});
