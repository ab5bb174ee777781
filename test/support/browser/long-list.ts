import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { waitFor } from '../patience.ts';
import { anAdmin, as, stateOf } from '../service/service.ts';
import { type PagedService, signedIn } from './memory-page.ts';

/** Of a page of the list. */
const PAGE = 200;
const NAME_DIGITS = 5;
const boxName = (index: number): string => `box-${String(index).padStart(NAME_DIGITS, '0')}`;

/** Rows that an engine has, and that can be stopped and started: one at the start, one in the middle, one at the end. */
const withEngine = (count: number): readonly number[] => [2, count / 2, count - 1];

/** The scripts of the page that take longer than a frame, in milliseconds. */
const LONG_TASKS = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longTasks.push(Math.round(duration));
  }).observe({ type: 'longtask' });
`;

/** Adds rows like the first one. Through the service, each of ten thousand takes longer than the one before. */
function addRows(
  { service }: PagedService,
  ownerId: string,
  count: number,
  made: ReadonlyMap<number, string>,
): void {
  const { containers } = stateOf(service);
  const like = containers.find((one) => one.ownerId === ownerId);
  if (like === undefined) throw new Error('there is no container');
  for (let index = 1; index <= count; index += 1) {
    const dbId = randomUUID();
    if (!made.has(index))
      containers.push({ ...like, dbId, name: boxName(index), runtimeId: dbId, volume: `ws-${dbId}` });
  }
}

/** One person with so many containers, by name, and the page with them. */
async function aLongList(browser: Browser, paged: PagedService, count: number) {
  const root = await anAdmin(paged.service);
  const { storage } = paged.service.ports;
  const call = as(paged.service, root);
  const tier = await call('PATCH', '/api/admin/tiers/enterprise', { max_containers: count + 1 });
  if (tier.statusCode !== 200) throw new Error(tier.body);
  await storage.repositories.settings.change({ requestsPerMinute: 0 });
  const made = new Map<number, string>();
  for (const index of withEngine(count)) made.set(index, await paged.container(root, boxName(index)));
  addRows(paged, root.id, count, made);
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
  return { root, page, faults, asked, change, middle: count / 2 };
}

const toEnd = (page: Page) => page.evaluate('scrollTo(0, document.body.scrollHeight)');

const row = (page: Page, index: number) =>
  page.locator('.row').filter({ has: page.getByRole('link', { name: boxName(index), exact: true }) });

/** Scrolls until the row is drawn; all rows are as high. */
async function toRow(page: Page, index: number, count: number): Promise<void> {
  const scroll = `(() => {
    const list = document.querySelector('ul.rows');
    scrollTo(0, list.offsetTop + (${index - 1} * list.offsetHeight) / ${count} - innerHeight / 2);
  })()`;
  const isDrawn = async (): Promise<boolean> => {
    await page.evaluate(scroll);
    return (await row(page, index).count()) > 0;
  };
  await waitFor(isDrawn, { what: boxName(index) });
}

type Walked = { readonly names: readonly string[]; readonly most: number };

/** The names in the list from its start to its end, and the most rows that the document had. */
const walked = (page: Page): Promise<Walked> => page.evaluate(WALK) as Promise<Walked>;

/** Scrolls in each frame: a row that is measured in the same one takes a single jump back. */
const WALK = `(async () => {
  const list = document.querySelector('ul.rows');
  const count = Number(list.firstElementChild.getAttribute('aria-setsize'));
  const names = new Set();
  let most = 0;
  for (let position = 1; position <= count; ) {
    const wanted = '[aria-posinset="' + position + '"] .row-name';
    for (let frames = 0; list.querySelector(wanted) === null; frames += 1) {
      if (frames > 3_000) throw new Error('row ' + position + ' is not drawn');
      scrollTo(0, list.offsetTop + ((position - 1) * list.offsetHeight) / count);
      await new Promise(requestAnimationFrame);
    }
    for (const name of list.querySelectorAll('.row-name')) {
      names.add(name.textContent);
      position = Number(name.closest('li').getAttribute('aria-posinset')) + 1;
    }
    most = Math.max(most, list.children.length);
  }
  return { names: [...names], most };
})()`;

/** Reports what scrolling cost this machine. */
async function reportLongTasks(t: Test, page: Page): Promise<void> {
  const tasks = (await page.evaluate('longTasks')) as readonly number[];
  t.comment(`${tasks.length} long tasks, the longest of ${Math.max(0, ...tasks)} ms`);
}

/** Scrolls, changes, filters and sorts a list of so many containers: no row is missing, and each change costs few requests. */
export async function usesLongList(
  t: Test,
  browser: Browser,
  paged: PagedService,
  count: number,
): Promise<void> {
  const { root, page, faults, asked, change, middle } = await aLongList(browser, paged, count);
  await toEnd(page);
  await row(page, count).waitFor();
  t.ok(asked.length < count / PAGE + 10, `each page is read once: ${asked.length} requests`);
  const { names, most } = await walked(page);
  t.equal(names.length, count);
  t.ok(most < 80, `rows far from the window are not drawn: ${most}`);
  await reportLongTasks(t, page);

  await toRow(page, middle, count);
  const before = asked.length;
  await change(middle, 'stop');
  await row(page, middle).getByText('stopped').waitFor();
  await change(2, 'stop');
  await waitFor(async () => asked.length > before);
  await paged.container(root, 'box-00000');
  await page.getByText(`${count + 1} containers`).waitFor();
  t.ok(asked.length - before < 20, `a change reads a row or a page: ${asked.slice(before).join(' ')}`);
  await page.evaluate('scrollTo(0, 0)');
  await page.getByRole('link', { name: 'box-00000' }).waitFor();
  await row(page, 2).getByText('stopped').waitFor();

  await page.getByLabel('State').selectOption('Stopped or disconnected');
  await page.getByText('2 found').waitFor();
  await change(2, 'start');
  await page.getByText('1 found').waitFor();
  await row(page, 2).waitFor({ state: 'detached' });
  await page.getByLabel('State').selectOption('All states');
  await page.getByRole('button', { name: 'Name' }).click();
  await row(page, count).waitFor();
  await page.getByLabel('Filter containers').fill(boxName(middle));
  await page.getByText('1 found').waitFor();
  await row(page, middle).waitFor();
  t.same(faults, []);
}
