import type { Page } from 'playwright-core';
import t from 'tap';
import { fixedClock, memoryPorts } from '../../../../src/adapters/memory/index.ts';
import { openBrowser } from '../../../support/browser/chromium.ts';
import { aPagedService, aScene, signedIn } from '../../../support/browser/memory-page.ts';
import { waitFor } from '../../../support/patience.ts';
import { aPerson } from '../../../support/service/service.ts';
import { fakeTerminals } from '../../../support/terminal/terminals.ts';

const TERMINAL = /\/api\/containers\/[^/]+\/terminal/;

type InPage = {
  readonly document: {
    querySelector(selector: string): { textContent: string; cloneNode(deep: true): Clone } | null;
  };
};
type Clone = {
  textContent: string;
  querySelectorAll(selector: string): Iterable<{ remove(): void }>;
};

/** The text of the notice, and the part of it that screen readers hear. */
const noticeOf = (page: Page) =>
  page.evaluate(() => {
    const notice = (globalThis as unknown as InPage).document.querySelector('.line-lost');
    const heard = notice?.cloneNode(true);
    for (const hidden of heard?.querySelectorAll('[aria-hidden=true]') ?? []) hidden.remove();
    return { text: notice?.textContent ?? '', heard: heard?.textContent ?? '' };
  });

t.test('the seconds until the next try are shown, and not read out one by one', async (t) => {
  const scene = await aScene(t, { terminalBackend: fakeTerminals() });
  if (scene === null) return;
  const { browser, paged } = scene;
  const id = await paged.container(await aPerson(paged.service, 'ada'), 'calm-bay');
  const { page } = await signedIn(browser, paged, 'ada');
  await page.routeWebSocket(TERMINAL, (socket) => void socket.close({ code: 1011, reason: 'test' }));
  await page.goto(`${paged.address}/containers/${id}`);
  const texts = new Map<string, Set<string>>();
  const changesUnheard = async (): Promise<boolean> => {
    const { text, heard } = await noticeOf(page);
    if (/Retrying in \d+ s/.test(heard)) texts.set(heard, (texts.get(heard) ?? new Set()).add(text));
    return [...texts.values()].some(({ size }) => size > 1);
  };
  await waitFor(changesUnheard, { what: 'a second that passes in silence', everyMs: 50 });
});

t.test('a program that ran out of memory is noticed, whatever the clock of the browser says', async (t) => {
  const browser = await openBrowser(t);
  if (browser === null) return;
  const clock = fixedClock(new Date());
  const base = memoryPorts(clock);
  let memoryKills = 0;
  const load = async () => {
    const figures = { cpuMillicores: 40, memoryBytes: 100 * 1_048_576, pids: 9 };
    return { ...figures, memoryKills, at: clock.now() };
  };
  const insight = { ...base.insight, load };
  const paged = await aPagedService(t, { ...base, insight, terminalBackend: fakeTerminals() });
  const id = await paged.container(await aPerson(paged.service, 'ada'), 'calm-bay');
  await paged.service.sampleFigures();
  const { page } = await signedIn(browser, paged, 'ada');
  await page.clock.install({ time: Date.now() + 3_600_000 });
  const read = page.waitForResponse(/\/api\/figures/);
  await page.goto(`${paged.address}/containers/${id}`);
  await read;
  await page.locator('.xterm-screen').waitFor();
  memoryKills = 1;
  clock.advance(20_000);
  await paged.service.sampleFigures();
  await page.clock.fastForward(21_000);
  await page.getByText('A program ran out of memory and was ended').waitFor();
});
