import { type Browser, chromium } from 'playwright-core';
import type { Test } from 'tap';
import { needs } from './skip.ts';

// The sandbox needs rights that a container's root lacks; the rest keeps it from calling home.
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A headless Chromium that is closed when `t` ends, or null when the test was skipped because there is none here. */
export async function openBrowser(t: Test): Promise<Browser | null> {
  const part = await needs(t, 'browser');
  if (part === null) return null;
  const browser = await chromium.launch({ executablePath: part.executable, args: FLAGS, headless: true });
  t.teardown(() => browser.close());
  return browser;
}
