import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import type { Test } from 'tap';
import { needs } from '../run/infra.ts';

// The sandbox needs rights that a container's root lacks. Drawing in the browser's process saves messages between
// processes. The other flags prevent requests of the browser's own.
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--in-process-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // a page lives for seconds, so optimizing its code and collecting garbage on several threads takes more than it saves
  '--js-flags=--no-opt --no-maglev --single-threaded-gc',
];
const LAUNCHER = path.join(import.meta.dirname, 'launch-chromium.pl');

/** That of the present test file: files run in turn. */
let running: Promise<Browser> | undefined;

/**
 * The Chromium of this test file, with contexts that end with `t`. Each file starts its own: to reach a shared one
 * through another process takes longer. Null when the test was skipped because there is no Chromium.
 */
export async function openBrowser(t: Test): Promise<Browser | null> {
  const part = await needs(t, 'browser');
  if (part === null) return null;
  running ??= start(fileOf(t), part.program);
  const browser = await running;
  const others = new Set(browser.contexts());
  t.teardown(async () => {
    for (const context of browser.contexts()) if (!others.has(context)) await context.close();
  });
  return browser;
}

/** The test of the whole file, or the outermost one where files share no process. */
function fileOf(t: Test): Test {
  const parent = t.parent as Test | undefined;
  return parent?.parent === undefined ? t : fileOf(parent);
}

function start(file: Test, program: string): Promise<Browser> {
  const browser = chromium.launch({
    executablePath: LAUNCHER,
    env: { ...process.env, CHROMIUM: program },
    args: FLAGS,
    headless: true,
  });
  file.teardown(async () => {
    running = undefined;
    await (await browser).close();
  });
  return browser;
}
