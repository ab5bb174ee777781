import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { screenLines, typeLine, waitForLine } from './page.ts';
import { paneScene } from './panes.ts';

type Line = { readonly isWrapped: boolean; translateToString(trim: boolean): string };
type Buffer = { readonly length: number; getLine(at: number): Line | undefined };
/** The part of the page's terminal that this reads. */
type Screen = {
  readonly scrollback: { readonly isSnapshot: boolean; readonly isComplete: boolean };
  readonly terminal: {
    readonly cols: number;
    readonly rows: number;
    readonly buffer: { readonly active: Buffer & { readonly baseY: number; readonly viewportY: number } };
    write(data: string, done: () => void): void;
    selectLines(from: number, to: number): void;
    getSelection(): string;
    clearSelection(): void;
  };
};
type InPage = { document: { querySelector(selector: string): { berthScreen: Screen } | null } };

type Scrollback = {
  readonly lines: readonly string[];
  readonly cols: number;
  readonly rows: number;
  /** Rows between the view and the newest screen. */
  readonly above: number;
  /** Whether it shows a snapshot. */
  readonly isSnapshot: boolean;
  /** Whether that is the newest one. */
  readonly isComplete: boolean;
};

/** Scrollback and screen of the page's terminal at one moment, with wrapped rows joined. */
const scrollbackOf = (page: Page): Promise<Scrollback> =>
  page.evaluate(async () => {
    const host = (globalThis as unknown as InPage).document.querySelector('.terminal-host');
    if (host === null) throw new Error('there is no terminal');
    const { terminal, scrollback } = host.berthScreen;
    await new Promise<void>((resolve) => terminal.write('', resolve));
    const { active } = terminal.buffer;
    const lines: string[] = [];
    for (let at = 0; at < active.length; at += 1) {
      const next = active.getLine(at + 1)?.isWrapped ?? false;
      const text = active.getLine(at)?.translateToString(!next) ?? '';
      if (active.getLine(at)?.isWrapped && lines.length > 0) lines.push(lines.pop() + text);
      else lines.push(text);
    }
    return {
      lines,
      cols: terminal.cols,
      rows: terminal.rows,
      above: active.baseY - active.viewportY,
      isSnapshot: scrollback.isSnapshot,
      isComplete: scrollback.isComplete,
    };
  });

/** The text copied by selecting everything. */
const copyOf = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const host = (globalThis as unknown as InPage).document.querySelector('.terminal-host');
    if (host === null) throw new Error('there is no terminal');
    const { terminal } = host.berthScreen;
    terminal.selectLines(0, terminal.buffer.active.length - 1);
    const text = terminal.getSelection();
    terminal.clearSelection();
    return text;
  });

/** A program's lines that are present, from the first to the last, and all between them. */
function linesBetween(lines: readonly string[], own: RegExp): readonly string[] {
  const first = lines.findIndex((line) => own.test(line));
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => own.test(line)) + 1);
}

const SEED = Number(process.env['SCROLLBACK_SEED'] ?? Date.now() % 1_000_000);
/** Fewer rows than the service sends of a history, and fewer than it draws of a plain shell at this width. */
const MAX_ROWS = 2_000;
const PATIENCE_MS = 90_000;

/**
 * `TAG PAD COUNT:PAUSE...`: numbered lines, in groups with pauses in between, and a last one with their number. The
 * empty line before them ends that of a command as wide as the screen, which the shell leaves open.
 */
const WRITER = `
tag=$1; pad=$(printf '%*s' "$2" '' | tr ' ' x); shift 2; at=1
echo
for part; do
  end=$((at + \${part%:*})); pause=\${part#*:}
  if [ "$pause" = 0 ]; then seq -f "$tag-%.0f-$pad" $at $((end - 1)); at=$end; fi
  while [ $at -lt $end ]; do echo "$tag-$at-$pad"; sleep "$pause"; at=$((at + 1)); done
done
echo "$tag-end-$((at - 1))"
`;

type Random = (from: number, to: number) => number;
type Part = { readonly count: number; readonly pauseMs: number };
type Run = { readonly tag: string; readonly pad: number; readonly parts: readonly Part[] };

/** Whole numbers from `from` to `to`, determined by the seed (mulberry32). */
function randomOf(seed: number): Random {
  let state = seed;
  return (from, to) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return from + (((mixed ^ (mixed >>> 14)) >>> 0) % (to - from + 1));
  };
}

function randomRun(tag: string, cols: number, random: Random): Run {
  const pad = random(0, 2) === 0 ? random(0, 2 * cols) : random(0, 20);
  const perLine = Math.ceil((pad + tag.length + 6) / 20);
  let left = Math.floor(MAX_ROWS / perLine);
  const parts = Array.from({ length: random(3, 8) }, () => {
    const isSlow = random(0, 1) === 1;
    const count = Math.min(left, isSlow ? random(1, 40) : random(1, 900));
    left -= count;
    return { count, pauseMs: isSlow ? random(1, 30) : 0 };
  });
  return { tag, pad, parts: parts.filter(({ count }) => count > 0) };
}

const written = ({ tag, pad, parts }: Run): readonly string[] => {
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const lines = Array.from({ length: count }, (_, at) => `${tag}-${at + 1}-${'x'.repeat(pad)}`);
  return [...lines, `${tag}-end-${count}`];
};

const commandOf = ({ tag, pad, parts }: Run): string =>
  `sh w ${tag} ${pad} ${parts.map(({ count, pauseMs }) => `${count}:${pauseMs / 1000}`).join(' ')}`;

/** The first difference between what is shown and what was written; null without one. */
function difference(shown: readonly string[], all: readonly string[]): string | null {
  const at = shown.findIndex((line, index) => line.trimEnd() !== all[index]);
  return at < 0 ? null : `line ${at}: ${shown.slice(Math.max(0, at - 2), at + 3).join(' | ')}`;
}

async function wheel(page: Page, rows: number): Promise<void> {
  const box = await page.locator('.xterm-screen').boundingBox();
  if (box === null) throw new Error('there is no terminal');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, rows * 17);
}

const resize = (page: Page, random: Random): Promise<void> =>
  page.setViewportSize({ width: random(500, 1_400), height: random(300, 900) });

/** Scrolls up until the check holds with everything loaded, and returns that. */
async function scrolledUp(page: Page, isSo: (now: Scrollback) => boolean): Promise<Scrollback> {
  for (const end = Date.now() + PATIENCE_MS; ; ) {
    const now = await scrollbackOf(page);
    if (now.above > 0 && isSo(now)) return now;
    const { lines, ...about } = now;
    if (Date.now() > end)
      throw new Error(`not so: ${JSON.stringify({ ...about, end: lines.slice(-4), count: lines.length })}`);
    if (now.above === 0) await wheel(page, -20);
    await sleep(50);
  }
}

/** A user who turns the wheel and resizes during output; every view is compared. */
async function watch(page: Page, run: Run, random: Random, isMuxed: boolean): Promise<string[]> {
  const [all, own] = [written(run), new RegExp(`^${run.tag}-(\\d+-|end)`)];
  const differences: string[] = [];
  for (let checks = random(2, 6); checks > 0; checks -= 1) {
    // At any moment of the output.
    await sleep(random(0, 300));
    const does = random(0, 5);
    if (does === 0) await resize(page, random);
    else await wheel(page, does === 1 ? random(1, 60) : -random(1, 80));
    const { lines, isSnapshot } = await scrollbackOf(page);
    if (isMuxed && !isSnapshot) continue;
    // The last line may be incomplete.
    const wrong = difference(linesBetween(lines, own).slice(0, -1), all);
    if (wrong !== null) differences.push(`while it wrote, ${wrong}`);
  }
  return differences;
}

async function oneRun(t: Test, page: Page, number: number, isMuxed: boolean): Promise<void> {
  const random = randomOf(SEED + number);
  const tag = `q${number}`;
  await resize(page, random);
  const run = randomRun(tag, 120, random);
  const [all, own] = [written(run), new RegExp(`^${tag}-(\\d+-|end)`)];
  await page.keyboard.press('Enter');
  await typeLine(page, commandOf(run));
  const differences = await watch(page, run, random, isMuxed);
  const isEnd = ({ lines, isComplete }: Scrollback): boolean =>
    (isComplete || !isMuxed) && lines.some((line) => line.trimEnd() === all.at(-1));
  const after = await scrolledUp(page, isEnd);
  const compare = (when: string, lines: readonly string[]): void => {
    const shown = linesBetween(lines, own);
    const wrong = difference(shown, all) ?? (shown.length === all.length ? null : `${shown.length} lines`);
    if (wrong !== null) differences.push(`${when}, ${wrong}`);
  };
  compare('afterwards', after.lines);
  compare('copied', (await copyOf(page)).split(/\r?\n/));
  if (random(0, 1) === 1) {
    await page.reload();
    await page.locator('.xterm-helper-textarea').waitFor();
    compare('after a reload', (await scrolledUp(page, isEnd)).lines);
  }
  await page.locator('.xterm-helper-textarea').focus();
  t.same(differences, [], `run ${number}: ${commandOf(run)}`);
}

/** Compares random runs with the program's output, inside tmux or in a plain shell. */
export async function scrollbackRuns(t: Test, count: number, isMuxed: boolean): Promise<void> {
  t.comment(`SCROLLBACK_SEED=${SEED}`);
  const scene = await paneScene(t, isMuxed ? {} : { env: { BERTH_TMUX: 'off' } });
  if (scene === null) return;
  const { page, faults } = scene;
  await typeLine(page, `cat > w <<'END'${WRITER}END`);
  await typeLine(page, 'echo written-$((1+1))');
  await waitForLine(page, /^written-2$/);
  for (let number = 1; number <= count; number += 1) await oneRun(t, page, number, isMuxed);
  await searches(t, page);
  t.same(faults, [], 'nothing went wrong in the page');
}

/** A search finds lines that a multiplexer never drew, and the return shows the newest screen. */
async function searches(t: Test, page: Page): Promise<void> {
  await typeLine(page, 'clear; seq -f "found %.0f." 1 2000; echo all-$((1+1))');
  await waitForLine(page, /^all-2$/);
  await page.keyboard.press('Control+Shift+F');
  const search = page.getByLabel('Search the output');
  await search.fill('found 1234.');
  await waitForLine(page, /^found 1234\.$/);
  await search.press('Escape');
  await typeLine(page, 'echo back-$((1+1))');
  await waitForLine(page, /^back-2$/);
  const lines = await screenLines(page);
  t.ok(lines.includes('found 2000.') && lines.includes('all-2'), lines.join(' | '));
}
