import axe from 'axe-core';
import type { Page } from 'playwright-core';

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };
type InPage = { axe: { run(): Promise<{ violations: readonly Violation[] }> } };

/** Colours change by transitions: between two themes they have too little contrast. */
const SETTLED = `Promise.allSettled(
  document.getAnimations().filter((one) => one instanceof CSSTransition).map(({ finished }) => finished),
).then(() => null)`;

/** What axe-core finds wrong with the page as it is now: rules, with the elements that break them. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  await page.evaluate(SETTLED);
  const violations = await page.evaluate(
    async () => (await (globalThis as unknown as InPage).axe.run()).violations,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** The same in both themes, wide and on a phone, each finding with where it was found. */
export async function violationsEverywhere(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  const before = page.viewportSize();
  for (const size of [before, { width: 390, height: 844 }]) {
    if (size !== null) await page.setViewportSize(size);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const here = await violationsOf(page);
      found.push(...here.map((each) => `${colorScheme}, ${size?.width} px: ${each}`));
    }
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  if (before !== null) await page.setViewportSize(before);
  return found;
}
