import t from 'tap';
import { visit } from '../support/browser/visit.ts';

t.setTimeout(180_000);

t.test('an administrator makes a set of tools by keyboard, and follows how it is installed', async (t) => {
  const scene = await visit(t, { role: 'admin' });
  if (scene === null) return;
  const { address, page, faults, call } = scene;
  await page.goto(`${address}/admin/roles`);
  const add = page.getByRole('button', { name: 'Add a set' });
  await add.focus();
  await page.keyboard.press('Enter');
  await page.locator('input:focus').waitFor();
  await page.keyboard.type('broken');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Broken tools');
  await page.getByLabel('Packages of apt').fill('--force');
  await page.getByLabel('Script').fill('echo no luck; exit 7');
  await page.getByLabel('Label').press('Enter');
  await page.getByText('Must be names of packages').waitFor();
  await page.getByLabel('Packages of apt').fill('');
  await page.getByLabel('Label').press('Enter');
  await page.getByText('Broken tools is saved').waitFor();
  await page.locator('.item', { hasText: 'Runs a script.' }).waitFor();
  t.equal(await page.locator(':focus').innerText(), 'Add a set', 'the focus is where it was');

  const made = await call('POST', '/api/containers', {
    name: 'dev',
    role: 'broken',
    memory_mb: 256,
    cpu_shares: 500,
    disk_mb: 512,
  });
  t.equal(made.status, 201);
  await page.goto(address);
  const link = page.getByRole('button', { name: 'Tools of dev: tools are missing' });
  await link.click();
  await page.getByText('no luck').waitFor();
  await page.getByText('ended with 7').waitFor();

  await call('PATCH', '/api/admin/roles/broken', { script: 'echo better now; sleep 300' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('better now').waitFor();
  await page.getByRole('button', { name: 'Cancel installation' }).click();
  await page.getByText('cancelled').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('dev', { exact: true }).click();
  await page.getByRole('button', { name: 'Tools of dev: tools are missing' }).waitFor();

  await page.goto(`${address}/admin/roles`);
  await page.getByRole('button', { name: 'Delete Broken tools' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('It is still in use').waitFor();
  t.same(
    faults.filter((fault) => !/status of (400|409)/.test(fault)),
    [],
    'nothing went wrong in the page, and its policy was kept',
  );
});
