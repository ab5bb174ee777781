import type { Browser, Page } from 'playwright-core';
import type { PagedService } from '../../../support/browser/memory-page.ts';
import { signedIn, test } from '../../../support/browser/memory-page.ts';
import { storedContainer } from '../../../support/database/stored.ts';
import { waitFor } from '../../../support/patience.ts';
import { anAdmin, as } from '../../../support/service/service.ts';

/** More than one page of the interface. */
const COUNT = 250;
const NEXT_PAGE = /\/api\/containers\?.*cursor=/;
const LIMITS = { memory_mb: 256, cpu_shares: 100, disk_mb: 1000 };

const toEnd = (page: Page) => page.evaluate('scrollTo(0, document.body.scrollHeight)');

/** The page of one person with more containers than it loads at once, `box-001` to `box-250`. */
async function aList(browser: Browser, paged: PagedService, count = COUNT) {
  const root = await anAdmin(paged.service);
  for (let index = 1; index <= count; index += 1)
    await storedContainer(paged.service.ports.storage, root.id, {
      name: `box-${String(index).padStart(3, '0')}`,
    });
  const call = as(paged.service, root);
  await call('PATCH', '/api/admin/tiers/enterprise', { max_containers: count + 100 });
  const opened = await signedIn(browser, paged, 'root', '/settings');
  const asked: string[] = [];
  let frames = 0;
  opened.page.on('request', (request) => asked.push(request.url()));
  opened.page.on('websocket', (socket) => socket.on('framereceived', () => (frames += 1)));
  return { ...opened, root, call, asked, frames: () => frames };
}

/** The page with its list, and its events. */
async function open(page: Page, paged: PagedService, count = COUNT): Promise<void> {
  const events = page.waitForEvent('websocket');
  await page.goto(paged.address);
  await page.getByText(`${count} containers`).waitFor();
  await events;
}

test('the rest of a list is loaded after its page has failed', async (t, browser, paged) => {
  const { page, faults } = await aList(browser, paged);
  await page.route(NEXT_PAGE, (route) => route.fulfill({ status: 500, body: '{}' }), { times: 1 });
  await open(page, paged);
  await toEnd(page);
  const again = page.getByRole('button', { name: 'Try again' });
  await again.waitFor();
  const isLoaded = async (): Promise<boolean> => {
    // The page tries again by itself as well, which takes the button away.
    await again.click({ timeout: 500 }).catch(() => {});
    // A click scrolls to the button.
    await toEnd(page);
    return (await page.getByRole('link', { name: `box-${COUNT}` }).count()) > 0;
  };
  await waitFor(isLoaded, { what: 'the last row' });
  t.equal(await page.locator('.skeleton').count(), 0);
  t.equal(await again.count(), 0);
  t.same(
    faults.filter((fault) => !fault.includes('500')),
    [],
  );
});

test('the rest of a list is loaded although its end moves meanwhile', async (t, browser, paged) => {
  const { page, call, faults } = await aList(browser, paged);
  const released = Promise.withResolvers<void>();
  await page.route(
    NEXT_PAGE,
    async (route) => {
      await released.promise;
      await route.continue();
    },
    { times: 1 },
  );
  await open(page, paged);
  const asked = page.waitForRequest(NEXT_PAGE);
  await toEnd(page);
  await asked;
  await call('POST', '/api/containers', { name: 'a-new-one', ...LIMITS });
  await page.getByText(`${COUNT + 1} containers`).waitFor();
  released.resolve();
  await waitFor(async () => {
    await toEnd(page);
    return (await page.getByRole('link', { name: `box-${COUNT}` }).count()) > 0;
  });
  t.equal(await page.locator('.skeleton').count(), 0);
  t.same(faults, []);
});

test('many events cost few requests, and none while the page is hidden', async (t, browser, paged) => {
  const { page, call, root, asked, frames } = await aList(browser, paged, 3);
  const ids: string[] = [];
  for (const name of ['x', 'y', 'z']) ids.push(await paged.container(root, name));
  await page.clock.install();
  await open(page, paged, 6);
  const CHANGES = 60;
  const changeMany = async (tag: string): Promise<void> => {
    const before = frames();
    for (let index = 0; index < CHANGES; index += 1)
      await call('PATCH', `/api/containers/${ids[index % 3]}`, { name: `${tag}-${index}`, ...LIMITS });
    await waitFor(() => frames() >= before + CHANGES);
  };
  const requests = (from: number): readonly string[] =>
    asked.slice(from).filter((url) => url.includes('/api/containers'));
  // Time stands still in the page, so that no pause ends between two events.
  await page.clock.pauseAt(Date.now() + 1_000);
  const first = asked.length;
  await changeMany('seen');
  const isShown = async (): Promise<boolean> => {
    await page.clock.runFor(100);
    return (await page.getByRole('link', { name: `seen-${CHANGES - 1}` }).count()) > 0;
  };
  await waitFor(isShown, { what: 'the last name' });
  const ofEvents = requests(first);
  t.ok(ofEvents.length < 5, `${ofEvents.length} requests for ${CHANGES} events`);
  t.notOk(
    ofEvents.some((url) => url.includes('deleted=true')),
    'deleted ones are counted only when one comes or goes',
  );
  await page.clock.resume();

  const turn = (state: 'hidden' | 'visible') =>
    page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`);
  await turn('hidden');
  const second = asked.length;
  await changeMany('hidden');
  t.same(requests(second), []);
  await turn('visible');
  await page.getByRole('link', { name: `hidden-${CHANGES - 1}` }).waitFor();
  await call('DELETE', `/api/containers/${ids[0]}`);
  await page.getByText('Recently deleted (1)').waitFor();
});
