import { type Browser, chromium } from 'playwright-core';
import type { Test } from 'tap';
import { needs } from './skip.ts';

/**
 * A line to the Chromium of this run; the contexts that are opened on it end with `t`. Null when the test was skipped
 * because there is no Chromium here.
 */
export async function openBrowser(t: Test): Promise<Browser | null> {
  const part = await needs(t, 'browser');
  if (part === null) return null;
  const browser = await chromium.connect(part.endpoint);
  t.teardown(() => browser.close());
  return browser;
}
