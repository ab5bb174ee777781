import path from 'node:path';
import type { Page } from 'playwright-core';

/** A picture for people, in the folder that SCREENSHOTS names; none without it. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (folder === undefined) return;
  await page.screenshot({ path: path.join(folder, `${name}.png`), animations: 'disabled' });
}

/** The same in light and in dark. */
export async function shootBoth(page: Page, name: string): Promise<void> {
  if (process.env['SCREENSHOTS'] === undefined) return;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await shoot(page, `${name}-${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: null });
}
