import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** Minified: each page parses it again, which takes longer than a check. */
const SOURCE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };
type Rules = {
  readonly runOnly?: readonly string[];
  readonly rules?: Readonly<Record<string, { readonly enabled: boolean }>>;
};
type Options = Rules & typeof ONLY_VIOLATIONS;
type InPage = { axe: { run(options: Options): Promise<{ violations: readonly Violation[] }> } };

/** Describing every element that passes, and loading style sheets for a rule that is off, would take most of the time. */
const ONLY_VIOLATIONS = { resultTypes: ['violations'], selectors: false, preload: false };

/** The rules whose result depends on the theme. */
export const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

const BUT_COLOURS = { rules: Object.fromEntries(OF_COLOURS.map((rule) => [rule, { enabled: false }])) };

/** Between two themes, and while a dialog appears, colours have too little contrast. Some animations never end. */
const SETTLED = `Promise.allSettled(
  document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime))
    .map(({ finished }) => finished),
).then(() => null)`;

/** What axe-core finds wrong with the page as it is now: rules, with the elements that break them. By all rules if none are named. */
export async function violationsOf(page: Page, rules: Rules = {}): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(SOURCE);
  await page.evaluate(SETTLED);
  const violations = await page.evaluate(
    async (options) => (await (globalThis as unknown as InPage).axe.run(options)).violations,
    { ...rules, ...ONLY_VIOLATIONS },
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/**
 * The same wide and on a phone, by the rules about colours wide alone, in both themes: those take most of the time. All
 * screens are checked in both themes and sizes where they are pictured (`screens.long`).
 */
export async function violationsEverywhere(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  const before = page.viewportSize();
  const check = async (colorScheme: 'light' | 'dark', rules: Rules = {}): Promise<void> => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const here = await violationsOf(page, rules);
    found.push(...here.map((each) => `${colorScheme}, ${page.viewportSize()?.width} px: ${each}`));
  };
  await check('light');
  await check('dark', { runOnly: OF_COLOURS });
  await page.setViewportSize({ width: 390, height: 844 });
  await check('light', BUT_COLOURS);
  await page.emulateMedia({ colorScheme: null });
  if (before !== null) await page.setViewportSize(before);
  return found;
}
