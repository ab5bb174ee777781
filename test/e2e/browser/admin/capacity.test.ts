import t from 'tap';
import { memoryHost, memoryRuntime, memoryTerminals } from '../../../../src/adapters/memory/index.ts';
import { aScene, focusedName, signedIn, tabTo } from '../../../support/browser/memory-page.ts';
import { waitFor } from '../../../support/patience.ts';
import { anAdmin, aPerson } from '../../../support/service/service.ts';

const MIB = 1_048_576;
const GIB = 1024 * MIB;

async function aMachine(t: Parameters<typeof aScene>[0]) {
  const runtime = memoryRuntime();
  runtime.host.spaces = [{ freeBytes: 9 * GIB, totalBytes: 100 * GIB, isPool: false }];
  const host = memoryHost(runtime);
  const scene = await aScene(t, { runtime, host, terminalBackend: memoryTerminals(runtime) });
  if (scene === null) return null;
  const { browser, paged } = scene;
  await anAdmin(paged.service);
  const [ada, bob] = [await aPerson(paged.service, 'ada'), await aPerson(paged.service, 'bob')];
  const [dev] = [await paged.container(ada, 'dev'), await paged.container(bob, 'web')];
  for (const { handle, spec } of runtime.boxes.values()) {
    const mine = spec.dbId === dev;
    host.taken.set(handle.runtimeId, { cpuMillicores: mine ? 50 : 90, memoryBytes: (mine ? 200 : 20) * MIB });
  }
  return { browser, paged };
}

t.test('an administrator sees how full the machine is, and who fills it', async (t) => {
  const scene = await aMachine(t);
  if (scene === null) return;
  const { browser, paged } = scene;
  const { page, faults } = await signedIn(browser, paged, 'root', '/admin/capacity');
  await page.getByText('The disk is 91 % full. Delete snapshots, or add space.').waitFor();
  const machine = page.getByRole('region', { name: 'Machine' });
  t.match(await machine.innerText(), /4 GB of 16 GB · 25 % · 220 MB by containers/);
  t.match(await machine.innerText(), /91 GB of 100 GB · 91 % · 9 GB free/);
  t.match(await machine.innerText(), /2 containers: 2 running\./);
  const rows = page.locator('.usage tbody tr');
  await rows.first().waitFor();
  const names = async () => await rows.locator('th a').allInnerTexts();
  await tabTo(page, /^Memory/);
  await page.keyboard.press('Enter');
  await waitFor(async () => (await names())[0] === 'ada');
  t.match(await page.getByRole('columnheader', { name: 'Memory' }).getAttribute('aria-sort'), 'descending');
  await page.getByRole('button', { name: 'CPU' }).click();
  await waitFor(async () => (await names())[0] === 'bob', { what: 'bob uses more of the processor' });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByLabel('Sort by').selectOption('Person');
  await waitFor(async () => (await names())[0] === 'ada');
  await rows.locator('a', { hasText: 'bob' }).click();
  await page.getByRole('heading', { name: 'People' }).waitFor();
  t.equal(await page.getByLabel('Search people').inputValue(), 'bob');
  t.same(faults, []);
});

t.test('figures that cannot be read have a heading above the reason', async (t) => {
  const scene = await aMachine(t);
  if (scene === null) return;
  const { browser, paged } = scene;
  const { page } = await signedIn(browser, paged, 'root');
  await page.route('**/api/admin/capacity', (route) => route.fulfill({ status: 500, json: {} }));
  await page.goto(`${paged.address}/admin/capacity`);
  const machine = page.getByRole('region', { name: 'Machine' });
  await machine.getByRole('button', { name: 'Try again' }).waitFor();
  await page.unroute('**/api/admin/capacity');
  await machine.getByRole('button', { name: 'Try again' }).click();
  await machine.getByText('25 %').waitFor();
});

t.test('an administrator closes a terminal, and its user reads who did', async (t) => {
  const scene = await aMachine(t);
  if (scene === null) return;
  const { browser, paged } = scene;
  const hers = await signedIn(browser, paged, 'ada');
  await hers.page.getByRole('link', { name: 'dev' }).first().click();
  await hers.page.locator('.xterm-rows').waitFor();
  const { page, faults } = await signedIn(browser, paged, 'root', '/admin/terminals');
  const row = page.locator('.people tbody tr').filter({ hasText: 'ada' });
  await row.waitFor();
  t.match(await row.innerText(), /dev · main\s+Browser\s+127\.0\.0\.1\s+nobody else/);
  await tabTo(page, 'Close the terminal of ada in dev, main');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Close the terminal of ada in dev?' }).waitFor();
  t.equal(await focusedName(page), 'Cancel', 'what is dangerous is not the first choice');
  await page.keyboard.press('Enter');
  t.equal(await row.count(), 1);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Close terminal' }).click();
  await hers.page.getByText('Closed by an administrator').waitFor();
  await page.getByText('No terminal is open.').waitFor();
  await hers.page.getByRole('button', { name: 'Connect again' }).click();
  await row.waitFor();
  t.same(faults, []);
});
