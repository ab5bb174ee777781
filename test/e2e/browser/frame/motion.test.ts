import type { BrowserContextOptions, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { aScene, signedIn } from '../../../support/browser/memory-page.ts';
import { waitFor } from '../../../support/patience.ts';
import { aPerson } from '../../../support/service/service.ts';
import { fakeTerminals } from '../../../support/terminal/terminals.ts';

type Scene = NonNullable<Awaited<ReturnType<typeof aScene>>>;

/** Stops each animation of that kind at its start. */
const PAUSED = `(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('.arrived > .row, .pane.opened { animation-play-state: paused !important }');
  document.adoptedStyleSheets = [sheet];
})()`;

/** What the animations of that name change: the property names, with the text of the elements. */
const MOVING = (name: string): string => `document.getAnimations()
  .filter(({ animationName }) => animationName === '${name}')
  .map(({ effect }) => [
    effect.target.querySelector('.row-name')?.textContent ?? '',
    Object.keys(effect.getKeyframes()[0]).filter((key) => ['opacity', 'translate', 'scale'].includes(key)).sort(),
  ])`;

const moving = (page: Page, name: string): Promise<unknown> => page.evaluate(MOVING(name));

async function untilMoving(t: Test, page: Page, name: string, expected: unknown): Promise<void> {
  let last: unknown;
  const what = (): string => `${name}: ${JSON.stringify(last)}`;
  await waitFor(
    async () => {
      last = await moving(page, name);
      return JSON.stringify(last) === JSON.stringify(expected);
    },
    { what },
  );
  t.pass(what());
}

/** Follows a row that arrives, and a pane that opens, with the properties that change. */
async function follows(
  t: Test,
  { browser, paged }: Scene,
  username: string,
  reducedMotion: NonNullable<BrowserContextOptions['reducedMotion']>,
  [ofRow, ofPane]: readonly [readonly string[], readonly string[]],
): Promise<void> {
  const who = await aPerson(paged.service, username);
  await paged.container(who, 'calm-bay');
  const { page, faults } = await signedIn(browser, paged, username, '/', { reducedMotion });
  await page.getByRole('link', { name: 'calm-bay' }).waitFor();
  await page.evaluate(PAUSED);
  await paged.container(who, 'web-api');
  await untilMoving(t, page, 'arrive', [['web-api', ofRow]]);
  const filter = page.getByLabel('Filter containers');
  await filter.fill('web');
  await page.getByText('1 found').waitFor();
  await filter.fill('');
  await page.getByRole('link', { name: 'calm-bay' }).waitFor();
  await untilMoving(t, page, 'arrive', [['web-api', ofRow]]);

  await page.getByRole('link', { name: 'web-api' }).click();
  await page.locator('.xterm-screen').waitFor();
  t.same(await moving(page, 'grow'), [], 'the main pane is there at once');
  await page.keyboard.press('Control+Shift+E');
  await page.locator('.xterm-screen').nth(1).waitFor();
  await untilMoving(t, page, 'grow', [['', ofPane]]);
  const widths = await page
    .locator('.pane')
    .evaluateAll((panes) => panes.map((pane) => (pane as unknown as InPage).offsetWidth));
  t.ok(Math.abs(Number(widths[0]) - Number(widths[1])) <= 1, `both have their size already: ${widths}`);
  t.same(faults, []);
}

type InPage = { readonly offsetWidth: number };

t.test(
  'a row that arrives slides in and a pane that opens grows, but for who wants less motion',
  async (t) => {
    const scene = await aScene(t, { terminalBackend: fakeTerminals() });
    if (scene === null) return;
    await follows(t, scene, 'ada', 'no-preference', [
      ['opacity', 'translate'],
      ['opacity', 'scale'],
    ]);
    await follows(t, scene, 'eve', 'reduce', [['opacity'], ['opacity']]);
  },
);
