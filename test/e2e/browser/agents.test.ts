import path from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { atTheList, PROMPT, typeUntilAnswered, visit, waitForLine } from '../../support/browser/page.ts';
import { runProcess } from '../../support/child.ts';
import { aFolder } from '../../support/folder.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** The agent's program with a home of its own; `code` enrols it first. */
function machine(t: Test, address: string) {
  const home = aFolder(t);
  const run = (script: string) =>
    runProcess(t, 'env', [
      ...[`HOME=${home}`, `XDG_STATE_HOME=${home}`, 'sh', '-c', script, process.execPath],
      ...[path.resolve('src/agent/bin/agent.ts'), address],
    ]);
  return {
    enrol: (code: string) => run(`printf '%s\n' ${code} | "$0" "$1" enrol --server "$2" --name workshop`),
    start: () => run('exec "$0" "$1" --server "$2"'),
  };
}

t.test('a machine is added by the code of the page, used, disconnected, lost and deleted', async (t) => {
  const scene = await visit(t);
  if (scene === null) return;
  const { address, page } = scene;
  await atTheList(scene);
  await button(page, 'Add an agent').click();
  const [command = '', code = ''] = await page
    .locator('dialog .token-secret')
    .nth(1)
    .waitFor()
    .then(() => page.locator('dialog .token-secret').allInnerTexts());
  t.equal(
    command,
    `curl -fsSL ${address}/agent/berth-agent.tar.gz | tar -xz && node berth-agent/agent.mjs install --server ${address}`,
  );
  const workshop = machine(t, address);
  const enrolling = workshop.enrol(code);
  t.equal(await enrolling.ended, 0, enrolling.errors());
  await button(page, 'Done').click();
  const agent = workshop.start();

  const row = page.locator('.rows .row', { hasText: 'workshop' });
  await row.getByText('connected', { exact: true }).waitFor();
  await row.getByText(/^agent · linux/).waitFor();
  await row.getByRole('button', { name: 'Terminal' }).click();
  await waitForLine(page, PROMPT);
  await typeUntilAnswered(page, 'echo "=$((6*7))="', /^=42=$/);
  await page.goBack();

  const menu = async (name: string): Promise<void> => {
    await row.getByRole('button', { name: 'More for workshop' }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  await menu('Disconnect…');
  await page.getByRole('dialog').getByText('connects again by itself').waitFor();
  // it would be back before a busy page shows that it is gone
  agent.process.kill('SIGSTOP');
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
  await row.getByText('disconnected', { exact: true }).waitFor();
  await page
    .getByText(/ is disconnected$/)
    .first()
    .waitFor();
  agent.process.kill('SIGCONT');
  await row.getByText('connected', { exact: true }).waitFor();
  t.pass('it is back by itself');

  agent.process.kill('SIGTERM');
  t.equal(await agent.ended, 0);
  await row.getByText('disconnected', { exact: true }).waitFor();
  await row.getByText(/^last seen (just now|\d)/).waitFor();
  t.equal(await row.getByRole('button', { name: 'Terminal' }).count(), 0);
  await row.locator('.row-name').click();
  await page.getByText('workshop is not connected').waitFor();
  t.equal(await button(page, 'Start').count(), 0, 'only the machine can connect');
  await page.goBack();

  await menu('Delete…');
  await page.getByRole('dialog').getByText('revokes its token').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByText('workshop is deleted').waitFor();
  t.equal(await button(page, 'Undo').count(), 0, 'nothing is kept of it');
  const again = workshop.start();
  t.equal(await again.ended, 77, 'its token is refused');
});
