import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { eventually } from '../patience.ts';
import {
  atTheList,
  linesOnceShown,
  newContainer,
  PROMPT,
  typeLine,
  typeUntilAnswered,
  type Visit,
  visit,
  waitForLine,
} from './page.ts';

export type PaneScene = Visit & { readonly container: string };

/** A container's terminal in a browser, and its owner's requests; null where that is impossible. */
export async function paneScene(t: Test, container = {}): Promise<PaneScene | null> {
  const scene = await visit(t);
  if (scene === null) return null;
  const { address, page, call } = scene;
  const { body } = await call('POST', '/api/containers', { name: 'panes', ...container });
  const dbId = String(body['db_id']);
  await page.goto(`${address}/containers/${dbId}`);
  await typeUntilAnswered(page, 'clear; echo up-$((6*7))', /^up-42/);
  return { ...scene, container: dbId };
}

/** Asks until the check holds; reports the last answer otherwise. */
export async function until<T>(
  _page: Page,
  read: () => Promise<T>,
  isSo: (answer: T) => boolean,
): Promise<T> {
  const answer = await eventually(read, isSo, { patienceMs: 45_000, everyMs: 50 });
  if (!isSo(answer)) throw new Error(`it is still ${JSON.stringify(answer)}`);
  return answer;
}

export const untilCount = (page: Page, selector: string, count: number): Promise<number> =>
  until(
    page,
    () => page.locator(selector).count(),
    (now) => now === count,
  );

/** Waits for this many panes, each with a screen. */
export const untilPanes = (page: Page, count: number): Promise<number> =>
  untilCount(page, '.pane .xterm-rows', count);

/** Goes to the pane in a direction, which has that place in the order. */
export async function goTo(page: Page, direction: string, at: number): Promise<void> {
  await page.keyboard.press(`Control+Shift+Arrow${direction}`);
  const pane = page.locator('.pane').nth(at);
  await until(
    page,
    () => pane.evaluate((element) => element.matches(':focus-within')),
    (has) => has,
  );
}

const FOCUSED_ROWS = '.pane:focus-within .xterm-rows > div';

/** Runs a command in the focused shell and returns its line of output. */
export async function answerOf(page: Page, command: string): Promise<string> {
  let lines: string[] = [];
  await page.locator('.pane:focus-within').waitFor();
  for (let tries = 0; tries < 8; tries += 1) {
    const mark = Math.random().toString(36).slice(2, 8);
    const answer = new RegExp(`^${mark}=(.*)=$`);
    await typeLine(page, `clear; echo "${mark}=$(${command})="`);
    const found = await eventually(
      async () => {
        lines = await linesOnceShown(page, FOCUSED_ROWS, answer);
        return lines.map((line) => answer.exec(line)?.[1]).find(Boolean);
      },
      (line) => line !== undefined,
      { patienceMs: 5_000, everyMs: 20 },
    );
    if (found !== undefined) return found;
  }
  throw new Error(`no answer to ${command} among:\n${lines.join('\n')}`);
}

/** The focused shell's size, once it equals its screen's. */
export async function sizeOf(page: Page): Promise<{ rows: number; cols: number }> {
  const { rows, cols } = await until(
    page,
    async () => {
      const [rows = 0, cols = 0] = (await answerOf(page, 'stty size')).split(' ').map(Number);
      return { rows, cols, shown: await page.locator('.line-facts').innerText() };
    },
    ({ rows, cols, shown }) => shown.includes(`${cols}×${rows}`),
  );
  return { rows, cols };
}

/** The multiplexer sessions in the container. */
export async function sessionsIn({ call, container }: PaneScene): Promise<string[]> {
  const script = "tmux -S /run/berth-tmux list-sessions -F '#{session_name}'";
  const { body } = await call('POST', `/api/containers/${container}/exec`, { command: ['sh', '-c', script] });
  return String(body['stdout'])
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

/** A shell in a container, on its own page; null where that is impossible. */
export async function aShell(t: Test): Promise<Visit | null> {
  const scene = await visit(t);
  if (scene === null) return null;
  await atTheList(scene);
  await newContainer(scene.page, 'programs');
  await waitForLine(scene.page, PROMPT);
  return scene;
}

/** Turns the wheel over the terminal by this many rows, up if negative. */
export async function wheel(page: Page, rows: number): Promise<void> {
  const box = await page.locator('.xterm-screen').boundingBox();
  const count = await page.locator('.xterm-rows > div').count();
  if (box === null) throw new Error('there is no terminal');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, (rows * box.height) / count);
}

/** Globals of the page that Node.js lacks. */
export type InPage = {
  getComputedStyle(element: unknown): { readonly color: string; readonly backgroundColor: string };
};

/** Leaves a program by its key. Input before it has ended is lost with it. */
export async function quit(page: Page): Promise<void> {
  await page.keyboard.press('q');
  await waitForLine(page, PROMPT);
}

let clears = 0;

/** An empty screen but for one line, which it returns, and a prompt. The line of an earlier clear is another one. */
export async function clear(page: Page): Promise<RegExp> {
  clears += 1;
  await typeLine(page, `clear; echo cleared-$((${clears}+0))`);
  const line = new RegExp(`^cleared-${clears}$`);
  await waitForLine(page, line);
  return line;
}
