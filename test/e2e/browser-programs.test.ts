import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { aSpec } from '../support/container-spec.ts';
import { engineOrSkip, testInstance } from '../support/engine.ts';
import { firstPage, tokenOfPerson, type Visit } from '../support/first-page.ts';
import { screenLines, typeLine, waitForLine } from '../support/page.ts';
import { aPlace } from '../support/running-service.ts';

t.setTimeout(600_000);

const PROMPT = /[#$] *$/;
const PASTED_BYTES = 1_048_576;
const INSTALL_MS = 240_000;

/** A shell in a container, on a page of its own; null when this machine can not have them. */
async function aShell(t: Test): Promise<Visit | null> {
  const visit = await firstPage(t, await aPlace(t));
  if (visit === null) return null;
  const { page } = visit;
  await page.keyboard.press('n');
  await page.getByText('Medium').waitFor();
  await page.getByLabel('Name').fill('programs');
  await page.keyboard.press('Enter');
  await waitForLine(page, PROMPT);
  return visit;
}

const look = (page: Page, name: string) => page.screenshot({ path: `.tap/programs-${name}.png` });

/** Turns the wheel over the terminal by so many rows, up for less than 0. */
async function wheel(page: Page, rows: number): Promise<void> {
  const box = await page.locator('.xterm-screen').boundingBox();
  const count = await page.locator('.xterm-rows > div').count();
  if (box === null) throw new Error('there is no terminal');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, (rows * box.height) / count);
}

/** What the page has, and Node.js has not. */
type InPage = {
  DataTransfer: new () => { setData(type: string, data: string): void };
  ClipboardEvent: new (type: string, options: object) => Event;
  getComputedStyle(element: unknown): { readonly color: string; readonly backgroundColor: string };
};

/** Pastes as a browser does: the text comes with the event. */
const paste = (page: Page, text: string): Promise<unknown> =>
  page.locator('.xterm-helper-textarea').evaluate((area, pasted) => {
    const inPage = globalThis as unknown as InPage;
    const clipboardData = new inPage.DataTransfer();
    clipboardData.setData('text/plain', pasted);
    area.dispatchEvent(
      new inPage.ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    );
  }, text);

/** Leaves a program by its key. What is typed before it has gone is lost with it. */
async function quit(page: Page): Promise<void> {
  await page.keyboard.press('q');
  await waitForLine(page, PROMPT);
}

/** An empty screen with a prompt, whatever was on it before. */
async function clear(page: Page): Promise<void> {
  await typeLine(page, 'clear; echo cleared-$((1+1))');
  await waitForLine(page, /^cleared-2$/);
}

const shell = await aShell(t);
if (shell !== null) {
  const { page, faults } = shell;
  await t.test('the wheel scrolls back over all that was printed, also after a reload', () =>
    scrollsBack(page),
  );
  await t.test('colours, wide characters and emoji', (t) => colours(t, page));
  await t.test('less and git log: the wheel scrolls a pager that has the screen', (t) => pagers(t, page));
  await t.test('vim and htop are installed', (t) => install(t, shell));
  await t.test('vim: the mouse moves its cursor, and the shell is as it was afterwards', (t) => vim(t, page));
  await t.test('htop: drawn with its colours', (t) => htop(t, page));
  await t.test('a paste of 1 MB arrives byte by byte, in its brackets', (t) => pasteMuch(t, page));
  t.same(faults, [], 'nothing went wrong in the page');
}

async function scrollsBack(page: Page): Promise<void> {
  await typeLine(page, 'seq -f "row %g" 1000');
  await waitForLine(page, /^row 1000$/);
  await wheel(page, -700);
  await waitForLine(page, /^row 300$/);
  await look(page, 'scrolled');
  await typeLine(page, 'echo back-$((1+1))');
  await waitForLine(page, /^back-2$/);
  await page.reload();
  await waitForLine(page, /^back-2$/);
  await wheel(page, -702);
  await waitForLine(page, /^row 300$/);
  await look(page, 'scrolled-after-reload');
  await page.locator('.xterm-helper-textarea').focus();
}

async function colours(t: Test, page: Page): Promise<void> {
  await clear(page);
  await typeLine(
    page,
    `for i in $(seq 16 231); do printf "\\033[48;5;%dm  " $i; [ $((i % 36)) = 15 ] && printf '\\033[0m\\n'; done`,
  );
  await typeLine(page, `printf '\\033[38;2;1;200;3mtrue%s\\033[0m\\n' -colour`);
  await typeLine(page, "printf '|漢字|한국|\\n|😀|👩‍💻|\\n|é|ab|\\n'");
  await waitForLine(page, /^\|é\|ab\|$/);
  const colour = await page
    .locator('.xterm-rows span', { hasText: /^true-colour$/ })
    .evaluate((span) => (globalThis as unknown as InPage).getComputedStyle(span).color);
  t.equal(colour, 'rgb(1, 200, 3)');
  const lines = await screenLines(page);
  t.ok(lines.includes('|漢字|한국|'), 'wide characters take their place');
  t.ok(lines.includes('|😀|👩‍💻|'), 'and emoji, also those of several characters');
  await look(page, 'colours');
}

async function pagers(t: Test, page: Page): Promise<void> {
  await clear(page);
  await typeLine(page, 'seq -f "page row %g" 500 > rows; less rows');
  await waitForLine(page, /^page row 1$/);
  await wheel(page, 20);
  await waitForLine(page, /^page row 50$/);
  await wheel(page, -20);
  await waitForLine(page, /^page row 1$/);
  await look(page, 'less');
  await page.keyboard.press('q');
  await waitForLine(page, /^cleared-2$/);
  const git = 'git -c user.name=a -c user.email=a@b.c -c init.defaultBranch=main';
  await typeLine(
    page,
    `${git} init -q repo; cd repo; for i in $(seq 30); do ${git} commit -q --allow-empty -m "change $i"; done; cd ..; git -C repo log`,
  );
  await waitForLine(page, /^ {4}change 30$/);
  await typeLine(page, '/change 19');
  await waitForLine(page, /^ {4}change 17$/);
  await look(page, 'git-log');
  await quit(page);
  await clear(page);
  t.pass('both leave the shell as it was');
}

/**
 * The real ones, from the packages of Debian. A service that is told of an engine leaves the way out to it, and that of the
 * tests has none: they are fetched in a container that has, and brought in as anybody brings in files.
 */
async function install(t: Test, { page, address }: Visit): Promise<void> {
  const authorization = `Bearer ${await tokenOfPerson(address)}`;
  const headers = { authorization, 'content-type': 'application/octet-stream' };
  const listed = await fetch(`${address}/api/containers`, { headers });
  const { containers } = (await listed.json()) as { containers: { db_id: string }[] };
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
  const { runtime, image } = await testInstance(t, engine);
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  const get = 'apt-get -q -o Acquire::Retries=3 -o APT::Update::Error-Mode=any';
  const fetched = `${get} update && ${get} install -y --no-install-recommends --download-only vim htop`;
  const script = `(${fetched}) >&2 && cd /var/cache/apt/archives && tar -cf - *.deb`;
  const command = ['sh', '-c', script];
  const request = { command, timeoutSeconds: INSTALL_MS / 1000, maxOutputBytes: 64 * 1_048_576 };
  const { exitCode, stdout, stderr } = await runtime.exec(handle, request);
  if (exitCode !== 0) throw new Error(`the packages were not fetched: ${stderr.toString().slice(-2_000)}`);
  return stdout;
}

async function vim(t: Test, page: Page): Promise<void> {
  await typeLine(page, 'vim rows');
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
  await look(page, 'vim-clicked');
  // Each turn is one report of the mouse, for which vim moves by three lines.
  for (let turn = 0; turn < 5; turn += 1) await wheel(page, 3);
  await waitForLine(page, /^page row 46$/);
  await look(page, 'vim');
  await page.keyboard.type(':wq');
  await page.keyboard.press('Enter');
  await waitForLine(page, /^cleared-2$/);
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
  await look(page, 'htop');
  await quit(page);
  await clear(page);
}

async function pasteMuch(t: Test, page: Page): Promise<void> {
  const line = 'Ein Satz mit Umlauten äöü, 漢字 und 😀, der sich wiederholt: ';
  const lines = Math.ceil(PASTED_BYTES / Buffer.byteLength(line));
  const text = Array.from({ length: lines }, (_, at) => `${line}${at}`).join('\n');
  t.ok(Buffer.byteLength(text) >= PASTED_BYTES, `${Buffer.byteLength(text)} bytes`);
  const arrives = Buffer.from(`\u001b[200~${text.replaceAll('\n', '\r')}\u001b[201~`);
  await typeLine(
    page,
    `stty raw -echo; printf '\\033[?2004hpaste-%s\\r\\n' now; head -c ${arrives.length} > pasted; stty sane; printf '\\033[?2004l'; sha256sum < pasted`,
  );
  await waitForLine(page, /^paste-now$/);
  await paste(page, text);
  const hash = createHash('sha256').update(arrives).digest('hex');
  await waitForLine(page, new RegExp(`^${hash} `), 90_000);
}
