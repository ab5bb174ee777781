import { existsSync } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { installPackages } from '../../../../src/adapters/docker/engine/host-packages.ts';
import type { Part } from './part.ts';

// Chromium without the parts that show windows needs a fifth less processor time. Its script in /usr/bin would stay
// between the keeper and the browser.
const SHELL = '/usr/lib/chromium/chromium-headless-shell';
const EXECUTABLES = [SHELL, '/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/chromium-browser'];
// The terminal page needs a monospaced font and one with emoji.
const FONTS = {
  '/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf': 'fonts-dejavu-core',
  '/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf': 'fonts-noto-color-emoji',
};
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
];
const LAUNCHER = path.join(import.meta.dirname, 'launch-chromium.pl');
const log = { info: console.log, warn: console.warn, error: console.error };

/** A Chromium for all tests of the run, the headless shell where possible; installed first as root. */
export async function startBrowser(
  _folder: string,
  progress: (line: string) => void,
): Promise<Part<'browser'>> {
  const server = await chromium.launchServer({
    executablePath: LAUNCHER,
    env: { ...process.env, CHROMIUM: await installed(progress) },
    args: FLAGS,
    headless: true,
    // the keeper stops it
    handleSIGHUP: false,
    handleSIGINT: false,
    handleSIGTERM: false,
  });
  const ended = new Promise<string>((resolve) => {
    server.once('close', () => resolve('Chromium ended'));
  });
  const pid = server.process().pid as number;
  return { value: { endpoint: server.wsEndpoint(), pid }, stop: () => server.close(), ended };
}

async function installed(progress: (line: string) => void): Promise<string> {
  if (process.getuid?.() === 0) {
    const fonts = Object.entries(FONTS).filter(([file]) => !existsSync(file));
    const install = (names: readonly string[]): Promise<void> =>
      names.length === 0 ? Promise.resolve() : installPackages(names, { progress, log });
    await install(fonts.map(([, name]) => name));
    // not every distribution has the shell
    if (!existsSync(SHELL)) await install(['chromium-headless-shell']).catch(log.warn);
    if (findExecutable() === undefined) await install(['chromium']);
  }
  const executable = findExecutable();
  if (executable === undefined) throw new Error('apt-get install chromium-headless-shell');
  return executable;
}

const findExecutable = (): string | undefined => EXECUTABLES.find((file) => existsSync(file));
