import {
  aLongList,
  boxName,
  reportLongTasks,
  row,
  toEnd,
  toRow,
  walked,
} from '../../../support/browser/long-list.ts';
import { test } from '../../../support/browser/memory-page.ts';
import { waitFor } from '../../../support/patience.ts';

const COUNT = process.env['THOROUGH'] === '1' ? 10_000 : 1_000;
const PAGE = 200;

test('a very long list stays whole, fresh and small', async (t, browser, paged) => {
  const { page, faults, asked, change, call, middle } = await aLongList(browser, paged, COUNT);
  await toEnd(page);
  await row(page, COUNT).waitFor();
  t.ok(asked.length < COUNT / PAGE + 10, `each page is read once: ${asked.length} requests`);
  const { names, most } = await walked(page, COUNT);
  t.equal(names.size, COUNT);
  t.ok(most < 80, `rows far from the window are not drawn: ${most}`);
  await reportLongTasks(t, page);

  await toRow(page, middle);
  const before = asked.length;
  await change(middle, 'stop');
  await row(page, middle).getByText('stopped').waitFor();
  await change(2, 'stop');
  await waitFor(async () => asked.length > before);
  await call('POST', '/api/containers', {
    name: 'box-00000',
    memory_mb: 256,
    cpu_shares: 100,
    disk_mb: 1000,
  });
  await page.getByText(`${COUNT + 1} containers`).waitFor();
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
  await row(page, COUNT).waitFor();
  await page.getByLabel('Filter containers').fill(boxName(middle));
  await page.getByText('1 found').waitFor();
  await row(page, middle).waitFor();
  t.same(faults, []);
});
