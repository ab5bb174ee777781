import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { OF_COLOURS, violationsOf } from '../../support/browser/axe.ts';
import { openBrowser } from '../../support/browser/chromium.ts';
import { photograph } from '../../support/browser/photograph.ts';
import { chosen, namesToShow, noteDone } from './choice.ts';
import { faultsOf } from './faults.ts';
import { FORMS, type Form, indexOf } from './gallery.ts';
import { type Scene, seeing } from './scene.ts';
import { aWorld, OF_SIZE, type World } from './world.ts';

t.setTimeout(3_600_000);

const FOLDER = process.env['SCREENS_OUT'] ?? path.join(tmpdir(), 'berth-screenshots');
const PATIENCE_MS = 60_000;
/** The library of the API reference lays out all operations before it shows one. */
const LIBRARY_PATIENCE_MS = 240_000;
/** More than the patience of all steps: a scene that hangs must not end the run. */
const SCENE_MS = 900_000;
/** Parts that follow the theme by script, as the terminal does, have its colours a frame later. */
const PAINTED = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))`;
/** Pictures alone, by one visit of each scene. */
const UNCHECKED = process.env['SCREENS_UNCHECKED'] === 'yes';
/** Names of groups, or texts in the names of scenes. */
const ONLY = (process.env['SCREENS_ONLY'] ?? '').split(',');
const RESUMED = process.env['SCREENS_RESUME'] === 'yes';

/** Opens the scene and brings it to what it shows. */
async function enter(page: Page, world: World, scene: Scene): Promise<void> {
  const { route, shows, before, steps } = scene;
  await before?.(page, world);
  const to = typeof route === 'string' ? route : await route(world);
  await page.goto(new URL(to, world.address).href);
  if (shows !== undefined) await seeing(page, shows);
  await steps?.(page, world);
}

/** Takes the pictures of one size, and returns what is wrong in it. The dark theme differs in its colours alone. */
async function take(
  page: Page,
  { name, isOfLibrary = false }: Scene,
  forms: readonly Form[],
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const { form, theme } of forms) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.evaluate(PAINTED);
    // Before the checks, which take seconds: a countdown goes on meanwhile.
    if (form !== null) await photograph(page, path.join(FOLDER, `${name}-${form}.png`));
    const rules = theme === 'dark' ? { runOnly: OF_COLOURS } : {};
    const found = UNCHECKED || isOfLibrary ? [] : await violationsOf(page, rules);
    wrong.push(...found.map((one) => `${theme}: ${one}`));
    // The window of a phone grows with its page.
    const width = page.viewportSize()?.width ?? 0;
    if (!isOfLibrary && Number(await page.evaluate('document.documentElement.scrollWidth')) > width)
      wrong.push(`${theme}: the page is wider than the window`);
  }
  return wrong;
}

/** The page as it is shown; null where it could not be brought to that. */
async function showOn(
  t: Test,
  world: World,
  scene: Scene,
  [size, forms]: (typeof FORMS)[number],
): Promise<Page | null> {
  const page = await world.open(scene.who ?? 'ada', size);
  page.setDefaultTimeout(scene.isOfLibrary ? LIBRARY_PATIENCE_MS : PATIENCE_MS);
  const faults = faultsOf(page, world.address, scene.expects);
  try {
    await enter(page, world, scene);
  } catch (error) {
    await photograph(page, path.join(FOLDER, `${scene.name}-failed-${size}.png`));
    t.fail(`${size}: ${error}`.split('\n').slice(0, 4).join(' '));
    return null;
  }
  t.same(await take(page, scene, forms), [], `${size}: accessible, and fits the window`);
  t.same(faults, [], `${size}: no error, no violation of the policy, no request to elsewhere`);
  return page;
}

/** The phone's picture without another visit: the same page in a window of its size, under a finger. */
async function alsoOnPhone(page: Page, scene: Scene): Promise<void> {
  const touch = await page.context().newCDPSession(page);
  await touch.send('Emulation.setTouchEmulationEnabled', { enabled: true });
  await page.setViewportSize(OF_SIZE.phone.viewport);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await photograph(page, path.join(FOLDER, `${scene.name}-phone.png`));
}

async function show(t: Test, world: World, scene: Scene): Promise<void> {
  const began = performance.now();
  t.setTimeout(SCENE_MS);
  for (const form of UNCHECKED ? FORMS.slice(0, 1) : FORMS) {
    const page = await showOn(t, world, scene, form);
    if (UNCHECKED && page !== null) await alsoOnPhone(page, scene);
    await world.closePages();
  }
  // Results come at the end of the file alone.
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.error(`# ${scene.name}: ${seconds} s${t.passing() ? '' : ', with faults'}`);
}

/** Whether all scenes were without faults. */
async function showAll(t: Test, world: World, scenes: readonly Scene[]): Promise<boolean> {
  let isGood = true;
  for (const scene of scenes) {
    await t.test(scene.name, async (t) => {
      await show(t, world, scene);
      isGood &&= t.passing();
    });
  }
  return isGood;
}

t.test('every screen is shown without faults, wide and on a phone, light and dark', async (t) => {
  mkdirSync(FOLDER, { recursive: true });
  const choice = chosen(ONLY, FOLDER, RESUMED);
  t.ok(RESUMED || choice.some(({ scenes }) => scenes.length > 0), `there are scenes of ${ONLY}`);
  writeFileSync(path.join(FOLDER, 'index.html'), indexOf(namesToShow(FOLDER, choice)));
  const browser = await openBrowser(t);
  const world = browser === null ? null : await aWorld(t, browser);
  if (world === null) return;
  for (const one of choice) {
    const isGood = await showAll(t, world, one.scenes);
    if (isGood && one.isComplete) noteDone(FOLDER, one);
  }
  t.comment(`pictures: ${path.join(FOLDER, 'index.html')}`);
});
