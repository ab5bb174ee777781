import { readdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { violationsEverywhere } from '../../../support/browser/axe.ts';
import { signedIn, test } from '../../../support/browser/memory-page.ts';
import { openPage } from '../../../support/browser/page.ts';
import { anAdmin } from '../../../support/service/service.ts';

const background = (page: Page): Promise<string> =>
  page.evaluate('getComputedStyle(document.documentElement).backgroundColor') as Promise<string>;

test('the guide opens from the page, in its colours, and its pictures are shown', async (t, browser, paged) => {
  await anAdmin(paged.service);
  const { page, faults } = await signedIn(browser, paged, 'root');
  await page.getByRole('button', { name: 'Help' }).click();
  const [guide] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('menuitem', { name: 'Guide' }).click(),
  ]);
  await guide.getByRole('heading', { level: 1, name: 'Help' }).waitFor();
  await guide.getByRole('link', { name: 'Work in a terminal' }).click();
  await guide.getByRole('heading', { level: 1, name: 'Work in a terminal' }).waitFor();
  const picture = guide.getByRole('img', { name: 'The list of containers' });
  await picture.evaluate((image) => (image as unknown as { decode(): Promise<void> }).decode());
  t.match(await guide.title(), 'Work in a terminal');
  await guide.locator('main').getByRole('link', { name: 'command line' }).click();
  await guide.getByRole('heading', { level: 1, name: 'The command berth' }).waitFor();
  t.same(await violationsEverywhere(guide), []);

  const light = await background(guide);
  await guide.evaluate("localStorage.setItem('berth.theme', 'dark')");
  await guide.reload();
  t.not(await background(guide), light, 'dark where Berth is dark');
  await guide.setViewportSize({ width: 390, height: 780 });
  t.ok(await guide.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'fits a phone');
  await guide.getByRole('link', { name: 'Open Berth' }).click();
  await guide.getByRole('heading', { level: 1, name: 'Containers' }).waitFor();
  t.same(faults, []);
});

test('every link of the guide leads to a page and a heading, also for the signed-out', async (t, browser, paged) => {
  const { page, faults } = await openPage(browser);
  const seen = new Map<string, Set<string>>();
  const waiting = ['/help'];
  const links: { from: string; path: string; anchor: string }[] = [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    const answer = await page.goto(`${paged.address}${path}`);
    t.equal(answer?.status(), 200, path);
    t.match(await page.title(), / · Berth$/, `${path} is a page of the guide`);
    const ids = (await page.evaluate(
      "[...document.querySelectorAll('[id]')].map(({ id }) => id)",
    )) as string[];
    seen.set(path, new Set(ids));
    const hrefs = (await page.evaluate(
      "[...document.querySelectorAll('main a, nav a')].map(({ href }) => href)",
    )) as string[];
    for (const url of hrefs.map((href) => new URL(href)).filter(({ origin }) => origin === paged.address)) {
      links.push({ from: path, path: url.pathname, anchor: url.hash.slice(1) });
      waiting.push(url.pathname);
    }
  }
  for (const { from, path, anchor } of links) {
    if (anchor !== '') t.ok(seen.get(path)?.has(decodeURIComponent(anchor)), `${from}: ${path}#${anchor}`);
  }
  const guides = readdirSync('docs/guide').map((file) => `/help/guide/${file.replace('.md', '')}`);
  t.same(
    guides.filter((path) => !seen.has(path)),
    [],
    'each guide is reached',
  );
  t.ok(seen.size > guides.length + 10, `${seen.size} pages`);
  t.same(faults, []);
});
