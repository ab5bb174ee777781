import { signedIn, test } from '../../support/browser/memory-page.ts';
import { aPerson } from '../../support/service/service.ts';

const ID = '00000000-0000-4000-8000-000000000001';

/** The first line at once, the second after a long pause. */
const CAST = [
  '{"version":2,"width":80,"height":24}',
  '[0.1,"o","begin\\r\\n"]',
  '[20,"o","end\\r\\n"]',
  '',
].join('\n');

const RECORDING = {
  id: ID,
  container_id: ID,
  container_name: 'dev',
  connection_id: 'main',
  state: 'ended',
  cols: 80,
  rows: 24,
  started_at: '2026-01-01T00:00:00Z',
  ended_at: '2026-01-01T00:00:20Z',
  duration_ms: 20_000,
  size_bytes: CAST.length,
  replica: 'a',
};

test('a recording that was not started is not at its end after a change of colours', async (t, browser, paged) => {
  await aPerson(paged.service, 'ada');
  const { page, faults } = await signedIn(browser, paged, 'ada');
  await page.route(`**/api/recordings/${ID}`, (route) => route.fulfill({ json: RECORDING }));
  await page.route(`**/api/recordings/${ID}/cast`, (route) => route.fulfill({ body: CAST }));
  await page.goto(`${paged.address}/recordings/${ID}`);
  const start = page.locator('.ap-overlay-start');
  await start.waitFor();
  await start.evaluate((old) => old.setAttribute('data-old', ''));
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('.ap-overlay-start:not([data-old])').waitFor();
  await page.locator('.ap-time-elapsed', { hasText: '00:00' }).waitFor({ state: 'attached' });
  t.same(faults, []);
});
