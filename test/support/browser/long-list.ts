import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { storedContainer } from '../database/stored.ts';
import { waitFor } from '../patience.ts';
import { anAdmin, as } from '../service/service.ts';
import { type PagedService, signedIn } from './memory-page.ts';

const NAME_DIGITS = 5;
export const boxName = (index: number): string => `box-${String(index).padStart(NAME_DIGITS, '0')}`;

/** Rows that an engine has, and that can be stopped and started: one at the start, one in the middle, one at the end. */
const withEngine = (count: number): readonly number[] => [2, count / 2, count - 1];

/** The scripts of the page that take longer than a frame, in milliseconds. */
const LONG_TASKS = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longTasks.push(Math.round(duration));
  }).observe({ type: 'longtask' });
`;

/** One person with so many containers, by name, and the page with them. */
export async function aLongList(browser: Browser, paged: PagedService, count: number) {
  const root = await anAdmin(paged.service);
  const { storage } = paged.service.ports;
  const call = as(paged.service, root);
  await call('PATCH', '/api/admin/tiers/enterprise', { max_containers: count + 100 });
  await storage.repositories.settings.change({ requestsPerMinute: 0 });
  const made = new Map<number, string>();
  for (const index of withEngine(count)) made.set(index, await paged.container(root, boxName(index)));
  for (let index = 1; index <= count; index += 1)
    if (!made.has(index)) await storedContainer(storage, root.id, { name: boxName(index) });
  const { page, faults } = await signedIn(browser, paged, 'root', '/settings');
  await page.addInitScript(LONG_TASKS);
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith('/api/containers')) asked.push(pathname + search);
  });
  await page.goto(paged.address);
  await page.getByText(`${count} containers`).waitFor();
  const change = async (index: number, to: 'start' | 'stop'): Promise<void> => {
    const { statusCode, body } = await call('POST', `/api/containers/${made.get(index)}/${to}`);
    if (statusCode !== 200) throw new Error(`${to} was answered ${statusCode} ${body}`);
  };
  return { root, call, page, faults, asked, change, middle: count / 2 };
}

export const toEnd = (page: Page) => page.evaluate('scrollTo(0, document.body.scrollHeight)');

export const row = (page: Page, index: number) =>
  page.locator('.row').filter({ has: page.getByRole('link', { name: boxName(index), exact: true }) });

/** Scrolls until the row is drawn, by the height of the rows. */
export async function toRow(page: Page, index: number): Promise<void> {
  const drawn = row(page, index);
  await page.evaluate(`(() => {
    const list = document.querySelector('ul.rows');
    const { height } = document.querySelector('ul.rows > li').getBoundingClientRect();
    scrollTo(0, list.offsetTop + ${index} * height - innerHeight / 2);
  })()`);
  await drawn.waitFor();
}

/** The names in the list from its start to its end, and the most rows that the document had. */
export async function walked(page: Page, count: number) {
  const names = new Set<string>();
  let most = 0;
  await page.evaluate('scrollTo(0, 0)');
  const see = async (): Promise<boolean> => {
    const seen = (await page.locator('.row .row-name').allInnerTexts()) as readonly string[];
    for (const name of seen) names.add(name);
    most = Math.max(most, await page.locator('ul.rows > li').count());
    await page.evaluate('scrollBy(0, innerHeight)');
    return names.size >= count;
  };
  await waitFor(see, { everyMs: 5, patienceMs: 120_000, what: () => `${names.size} of ${count} rows` });
  return { names, most };
}

/** Reports what scrolling cost this machine. */
export async function reportLongTasks(t: Test, page: Page): Promise<void> {
  const tasks = (await page.evaluate('longTasks')) as readonly number[];
  t.comment(`${tasks.length} long tasks, the longest of ${Math.max(0, ...tasks)} ms`);
}
