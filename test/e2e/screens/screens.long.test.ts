import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { violationsOf } from '../../support/browser/axe.ts';
import { openBrowser } from '../../support/browser/page.ts';
import { photograph } from '../../support/browser/photograph.ts';
import { faultsOf } from './faults.ts';
import { FORMS, type Form, indexOf } from './gallery.ts';
import type { Scene } from './scene.ts';
import { SCENES } from './scenes/index.ts';
import { aWorld, type World } from './world.ts';

t.setTimeout(3_600_000);

const FOLDER = process.env['SCREENS_OUT'] ?? path.join(tmpdir(), 'berth-screenshots');
const ONLY = process.env['SCREENS_ONLY'] ?? '';

/** Opens the scene and brings it to what it shows. */
async function enter(page: Page, world: World, scene: Scene): Promise<void> {
  const { route, shows, before, steps } = scene;
  await before?.(page, world);
  const to = typeof route === 'string' ? route : await route(world);
  await page.goto(new URL(to, world.address).href);
  if (shows !== undefined) await page.getByText(shows).first().waitFor();
  await steps?.(page, world);
}

/** Takes the pictures of one form, and returns what is wrong in it. */
async function take(page: Page, { name }: Scene, forms: readonly Form[]): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const { form, theme } of forms) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    wrong.push(...(await violationsOf(page)).map((one) => `${form}: ${one}`));
    if ((await page.evaluate('document.documentElement.scrollWidth > innerWidth')) === true)
      wrong.push(`${form}: the page is wider than the window`);
    await photograph(page, path.join(FOLDER, `${name}-${form}.png`));
  }
  return wrong;
}

async function show(t: Test, world: World, scene: Scene): Promise<void> {
  for (const [size, forms] of FORMS) {
    const page = await world.open(scene.who ?? 'ada', size);
    page.setDefaultTimeout(20_000);
    const faults = faultsOf(page, world.address, scene.expects);
    try {
      await enter(page, world, scene);
    } catch (error) {
      await photograph(page, path.join(FOLDER, `${scene.name}-failed-${size}.png`));
      t.fail(`${size}: ${error}`.split('\n').slice(0, 4).join(' '));
      await page.close();
      continue;
    }
    t.same(await take(page, scene, forms), [], `${size}: accessible, and fits the window`);
    t.same(faults, [], `${size}: no error, no violation of the policy, no request to elsewhere`);
    await page.close();
  }
}

t.test('every screen is shown without faults, wide and on a phone, light and dark', async (t) => {
  const browser = await openBrowser(t);
  const world = browser === null ? null : await aWorld(t, browser);
  if (world === null) return;
  const chosen = SCENES.filter(({ name }) => name.includes(ONLY));
  t.ok(chosen.length > 0, `there are scenes named ${ONLY}`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path.join(FOLDER, 'index.html'), indexOf(chosen.map(({ name }) => name)));
  for (const scene of chosen) await t.test(scene.name, (t) => show(t, world, scene));
  t.comment(`pictures: ${path.join(FOLDER, 'index.html')}`);
});
