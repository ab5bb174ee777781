import type { Locator, Page } from 'playwright-core';
import type { Test } from 'tap';
import { eventually } from '../patience.ts';
import { typeLine, typeUntilAnswered } from './page.ts';
import { type Visit, visit } from './visit.ts';

export type PaneScene = Visit & { readonly container: string };

/** A container's terminal in a browser, and requests of who has it; null when this machine cannot have them. */
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

/** Asks until it is so; what was answered last is told otherwise. */
export async function until<T>(_page: Page, ask: () => Promise<T>, isSo: (answer: T) => boolean): Promise<T> {
  const answer = await eventually(ask, isSo, { patienceMs: 45_000, everyMs: 50 });
  if (!isSo(answer)) throw new Error(`it is still ${JSON.stringify(answer)}`);
  return answer;
}

export const untilCount = (page: Page, selector: string, count: number): Promise<number> =>
  until(
    page,
    () => page.locator(selector).count(),
    (now) => now === count,
  );

/** Waits for so many panes, each with a screen. */
export const untilPanes = (page: Page, count: number): Promise<number> =>
  untilCount(page, '.pane .xterm-rows', count);

/** Goes to the pane in a direction, which is the one at that place in order. */
export async function goTo(page: Page, direction: string, at: number): Promise<void> {
  await page.keyboard.press(`Control+Shift+Arrow${direction}`);
  const pane = page.locator('.pane').nth(at);
  await until(
    page,
    () => pane.evaluate((element) => element.matches(':focus-within')),
    (has) => has,
  );
}

const linesOf = (pane: Locator): Promise<string[]> =>
  pane
    .locator('.xterm-rows > div')
    .evaluateAll((rows) => rows.map((row) => row.textContent?.trimEnd() ?? ''));

/** Runs a command in the shell that has the focus, and answers what it printed, a line. */
export async function answerOf(page: Page, command: string): Promise<string> {
  const pane = page.locator('.pane:focus-within');
  await pane.waitFor();
  for (let tries = 0; tries < 8; tries += 1) {
    const mark = Math.random().toString(36).slice(2, 8);
    const answer = new RegExp(`^${mark}=(.*)=$`);
    await typeLine(page, `clear; echo "${mark}=$(${command})="`);
    const found = await eventually(
      async () => (await linesOf(pane)).map((line) => answer.exec(line)?.[1]).find(Boolean),
      (line) => line !== undefined,
      { patienceMs: 5_000, everyMs: 20 },
    );
    if (found !== undefined) return found;
  }
  throw new Error(`no answer to ${command} among:\n${(await linesOf(pane)).join('\n')}`);
}

/** The size that the shell with the focus was told, once it is the one of its screen. */
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

/** Multiplexer sessions, as the container itself knows them. */
export async function sessionsIn({ call, container }: PaneScene): Promise<string[]> {
  const script = "tmux -S /run/berth-tmux list-sessions -F '#{session_name}'";
  const { body } = await call('POST', `/api/containers/${container}/exec`, { command: ['sh', '-c', script] });
  return String(body['stdout'])
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}
