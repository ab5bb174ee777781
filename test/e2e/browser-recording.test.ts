import t from 'tap';
import {
  newContainer,
  shoot,
  shootBoth,
  typeLine,
  typeUntilAnswered,
  waitForLine,
} from '../support/browser/page.ts';
import { atTheList, visit } from '../support/browser/visit.ts';
import { sharedService } from '../support/process/shared-service.ts';

const SHOWN = `for i in $(seq 1 8); do printf '\\033[3%dmstep %d\\033[0m 🚢 héllo\\n' $i $i; sleep 0.2; done; echo all-$((6*7))`;

t.setTimeout(240_000);
t.test('a terminal is recorded, listed, played back, downloaded and deleted, by the keyboard', async (t) => {
  const scene = await visit(t);
  if (scene === null) return;
  const { address, page, faults } = scene;
  await atTheList(scene);
  await newContainer(page, 'first');
  await page.locator('.xterm').waitFor();
  await typeUntilAnswered(page, 'clear; echo up-$((6*7))', /^up-42/);

  await page.keyboard.press('Control+Shift+L');
  const record = page.getByRole('button', { name: 'Record this terminal' });
  await record.focus();
  await page.keyboard.press('Enter');
  await page.locator('.recording-mark').waitFor();
  await shoot(page, 'recording-bar');
  await typeLine(page, SHOWN);
  await waitForLine(page, /^all-42/);
  await page.reload();
  await page.locator('.recording-mark').waitFor();
  await page.getByRole('button', { name: 'Stop recording' }).click();
  await page.locator('.recording-mark').waitFor({ state: 'detached' });

  await page.goto(`${address}/recordings`);
  const play = page.getByRole('link', { name: 'Play first' });
  await play.waitFor();
  await shootBoth(page, 'recordings');
  await play.focus();
  await page.keyboard.press('Enter');
  await page.locator('.ap-player').waitFor();
  t.match(page.url(), /\/recordings\/[0-9a-f-]{36}$/);
  await shoot(page, 'playback-poster');
  await page.keyboard.press('Space');
  await page
    .getByText(/step 4/)
    .first()
    .waitFor();
  await page.keyboard.press('Space');
  await shootBoth(page, 'playback');
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  t.match((await downloading).suggestedFilename(), /^first-\d{4}-[\d-]+\.cast$/);

  await page.getByRole('button', { name: 'Delete' }).click();
  await shoot(page, 'recording-delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('There is no recording').waitFor();
  t.same(faults, []);
});

t.test('only the page that plays may compile WebAssembly, and it runs no script of others', async (t) => {
  const service = await sharedService(t);
  if (service === null) return;
  const scriptsOf = async (path: string): Promise<string | undefined> => {
    const answer = await fetch(service.address + path, { headers: { accept: 'text/html' } });
    const policy = answer.headers.get('content-security-policy') ?? '';
    return policy.split(';').find((part) => part.startsWith('script-src'));
  };
  for (const path of [
    '/',
    '/recordings',
    '/containers/x',
    '/settings',
    '/recordingsx/y',
    '/x/recordings/y',
  ]) {
    t.equal(await scriptsOf(path), "script-src 'self'", path);
  }
  const id = '99999999-9999-4999-8999-999999999999';
  t.equal(await scriptsOf(`/recordings/${id}`), "script-src 'self' 'wasm-unsafe-eval'");
});
