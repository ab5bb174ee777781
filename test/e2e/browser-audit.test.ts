import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import t from 'tap';
import { shootBoth } from '../support/browser/page.ts';
import { visit } from '../support/browser/visit.ts';
import { run } from '../support/database/database.ts';

t.setTimeout(180_000);

const rows = (page: Page) => page.locator('table.audit tbody tr');

async function saved(page: Page, name: string): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name, exact: true }).click(),
  ]);
  return await text(await download.createReadStream());
}

t.test('the audit on the pages: filters, older records, files', async (t) => {
  const scene = await visit(t, { role: 'admin' });
  if (scene === null) return;
  const { address, page, person, service, faults } = scene;
  await run(
    service.database,
    `insert into audit_records (user_id, action, ip_address, user_agent, details, created_at)
     select null, 'login_failed', '203.0.113.' || n, 'Mozilla/5.0 (X11) Firefox/140.0', 'password',
       now() - n * interval '1 hour' from generate_series(1, 120) n`,
  );

  await page.goto(`${address}/admin/audit`);
  await rows(page).nth(49).waitFor();
  await rows(page).filter({ hasText: person.username }).first().waitFor();
  await page.getByRole('button', { name: 'Show older' }).click();
  await rows(page).nth(99).waitFor();
  await shootBoth(page, 'audit');

  const csv = await saved(page, 'CSV');
  t.ok(csv.split('\r\n').length > 121, 'the whole of it, not a page');
  t.match(csv, /^created_at,username,action/);

  await page.getByLabel('Who').fill(person.email.toUpperCase());
  await page.keyboard.press('Enter');
  await rows(page).nth(20).waitFor({ state: 'detached' });
  t.notOk((await rows(page).allInnerTexts()).join().includes('login_failed'));
  await page.getByLabel('What').fill('no_such_action');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing of that kind was recorded.').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await rows(page).nth(49).waitFor();

  await page.goto(`${address}/settings/activity`);
  await rows(page).first().waitFor();
  t.notOk((await rows(page).allInnerTexts()).join().includes('login_failed'), 'others are not in it');
  const own = await saved(page, 'NDJSON');
  t.equal(JSON.parse(own.split('\n')[0] ?? '').action, 'audit_exported');
  await shootBoth(page, 'activity');
  await page.setViewportSize({ width: 390, height: 780 });
  await page.goto(`${address}/admin/audit`);
  await rows(page).nth(49).waitFor();
  t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'fits a phone');
  await shootBoth(page, 'audit-phone');
  t.same(faults, [], 'nothing went wrong in the page');
});
