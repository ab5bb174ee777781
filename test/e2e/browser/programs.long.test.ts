import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { screenLines, typeLine, type Visit, waitForLine } from '../../support/browser/page.ts';
import { aShell, clear, type InPage, quit, wheel } from '../../support/browser/panes.ts';
import { aSpec, runIn } from '../../support/engine/container.ts';
import { engineOrSkip, testInstance } from '../../support/engine/engine.ts';

t.setTimeout(600_000);

const INSTALL_MS = 240_000;

const shell = await aShell(t);
if (shell !== null) {
  const { page, faults } = shell;
  await t.test('vim and htop are installed', (t) => install(t, shell));
  await t.test('vim: the mouse moves its cursor, and the shell is unchanged afterwards', (t) => vim(t, page));
  await t.test('htop: is drawn with its colours', (t) => htop(t, page));
  t.same(faults, [], 'nothing went wrong in the page');
}

/**
 * The real ones, from the packages of Debian. A service that is told of an engine leaves the way out to it, and that of the
 * tests has none: they are fetched in a container that has, and brought in as anybody brings in files.
 */
async function install(t: Test, { page, address, person, call }: Visit): Promise<void> {
  const headers = { authorization: `Bearer ${person.token}`, 'content-type': 'application/octet-stream' };
  const { body } = await call('GET', '/api/containers');
  const { containers } = body as { containers: { db_id: string }[] };
  const to = `${address}/api/containers/${containers[0]?.db_id}/files?path=packages.tar`;
  const sent = await fetch(to, { method: 'PUT', headers, body: new Uint8Array(await packages(t)) });
  t.equal(sent.status, 201);
  await typeLine(page, 'tar -C /tmp -xf packages.tar; dpkg -i /tmp/*.deb > /tmp/log 2>&1; echo installed-$?');
  await waitForLine(page, /^installed-\d+$/, INSTALL_MS);
  await typeLine(page, 'tail -n 9 /tmp/log; vim --version | head -n 1; htop --version; echo end-$((1+1))');
  await waitForLine(page, /^end-2$/);
  const seen = (await screenLines(page)).join('\n');
  for (const sign of [/^installed-0$/m, /^VIM - Vi IMproved \d/m, /^htop \d/m]) t.match(seen, sign);
  await clear(page);
}

/** Vim and htop with all that they need, for the default image, as a tar of packages. */
async function packages(t: Test): Promise<Buffer> {
  const engine = await engineOrSkip(t);
  if (engine === null) throw new Error('there is no engine');
  const { runtime, commands, image } = await testInstance(t, engine);
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  const get = 'apt-get -q -o Acquire::Retries=3 -o APT::Update::Error-Mode=any';
  const fetched = `${get} update && ${get} install -y --no-install-recommends --download-only vim htop`;
  const script = `(${fetched}) >&2 && cd /var/cache/apt/archives && tar -cf - *.deb`;
  const limits = { timeoutSeconds: INSTALL_MS / 1000, maxOutputBytes: 64 * 1_048_576 };
  const { exitCode, stdout, stderr } = await runIn(commands, handle, ['sh', '-c', script], limits);
  if (exitCode !== 0) throw new Error(`the packages were not fetched: ${stderr.toString().slice(-2_000)}`);
  return stdout;
}

async function vim(t: Test, page: Page): Promise<void> {
  const cleared = await clear(page);
  await typeLine(page, 'seq -f "page row %g" 500 > rows; vim rows');
  await waitForLine(page, /^page row 10$/);
  await page.keyboard.type(':set mouse=a');
  await page.keyboard.press('Enter');
  await waitForLine(page, /^:set mouse=a/);
  const row = page.locator('.xterm-rows > div', { hasText: /^page row 7\s*$/ });
  const box = await row.boundingBox();
  if (box === null) throw new Error('row 7 is not on the screen');
  await page.mouse.click(box.x + 3, box.y + box.height / 2);
  await page.keyboard.type('Iclicked here: ');
  await page.keyboard.press('Escape');
  await waitForLine(page, /^clicked here: page row 7$/);
  // Each turn is one mouse report, for which vim moves three lines.
  for (let turn = 0; turn < 5; turn += 1) await wheel(page, 3);
  await waitForLine(page, /^page row 46$/);
  await page.keyboard.type(':wq');
  await page.keyboard.press('Enter');
  await waitForLine(page, cleared);
  await typeLine(page, 'grep -c clicked rows; sed -n 7p rows');
  await waitForLine(page, /^clicked here: page row 7$/);
  t.ok((await screenLines(page)).includes('1'), 'what was typed went to where the mouse was');
}

async function htop(t: Test, page: Page): Promise<void> {
  await clear(page);
  await typeLine(page, 'htop');
  await waitForLine(page, /PID *USER.*Command/);
  await waitForLine(page, /F1Help.*F10Quit/);
  await waitForLine(page, /Tasks: *\d+/);
  const seen = await page.locator('.xterm-rows span').evaluateAll((spans) =>
    spans.map((span) => {
      const { color, backgroundColor } = (globalThis as unknown as InPage).getComputedStyle(span);
      return [color, backgroundColor];
    }),
  );
  const texts = new Set(seen.map(([color]) => color));
  const grounds = new Set(seen.map(([, ground]) => ground));
  t.ok(texts.size >= 5, `texts in ${[...texts].join(' ')}`);
  t.ok(grounds.size >= 3, `and bars on ${[...grounds].join(' ')}`);
  await quit(page);
  await clear(page);
}
