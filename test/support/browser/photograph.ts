import type { Page } from 'playwright-core';

/** At the left edge the mouse is over nothing that it would change, in a wide window. */
const ASIDE = { x: 4, y: 700 };

/** A picture of the page at rest: without hover, animations and a blinking cursor. */
export async function photograph(page: Page, file: string): Promise<void> {
  await page.mouse.move(ASIDE.x, ASIDE.y);
  await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
}
