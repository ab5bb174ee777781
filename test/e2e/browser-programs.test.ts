import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { screenLines, shoot, typeLine, waitForLine } from '../support/browser/page.ts';
import { aShell, clear, type InPage, quit, wheel } from '../support/browser/programs.ts';

t.setTimeout(300_000);

const PASTED_BYTES = 1_048_576;

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

const shell = await aShell(t);
if (shell !== null) {
  const { page, faults } = shell;
  await t.test('the wheel scrolls back over all that was printed, also after a reload', () =>
    scrollsBack(page),
  );
  await t.test('colours, wide characters and emoji', (t) => colours(t, page));
  await t.test('less and git log: the wheel scrolls a pager that has the screen', (t) => pagers(t, page));
  await t.test('a paste of 1 MB arrives byte by byte, in its brackets', (t) => pasteMuch(t, page));
  t.same(faults, [], 'nothing went wrong in the page');
}

async function scrollsBack(page: Page): Promise<void> {
  await typeLine(page, 'seq -f "row %g" 1000');
  await waitForLine(page, /^row 1000$/);
  await wheel(page, -700);
  await waitForLine(page, /^row 300$/);
  await shoot(page, 'programs-scrolled');
  await typeLine(page, 'echo back-$((1+1))');
  await waitForLine(page, /^back-2$/);
  await page.reload();
  await waitForLine(page, /^back-2$/);
  await wheel(page, -702);
  await waitForLine(page, /^row 300$/);
  await shoot(page, 'programs-scrolled-after-reload');
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
  await shoot(page, 'programs-colours');
}

async function pagers(t: Test, page: Page): Promise<void> {
  await clear(page);
  await typeLine(page, 'seq -f "page row %g" 500 > rows; less rows');
  await waitForLine(page, /^page row 1$/);
  await wheel(page, 20);
  await waitForLine(page, /^page row 50$/);
  await wheel(page, -20);
  await waitForLine(page, /^page row 1$/);
  await shoot(page, 'programs-less');
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
  await shoot(page, 'programs-git-log');
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
