import { existsSync } from 'node:fs';
import { installPackages } from '../../../../src/adapters/docker/engine/host-packages.ts';
import type { Part } from './part.ts';

// Chromium without the parts that show windows needs a fifth less processor time. Its script in /usr/bin would stay
// between the test process and the browser.
const SHELL = '/usr/lib/chromium/chromium-headless-shell';
const EXECUTABLES = [SHELL, '/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/chromium-browser'];
// The terminal page needs a monospaced font and one with emoji.
const FONTS = {
  '/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf': 'fonts-dejavu-core',
  '/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf': 'fonts-noto-color-emoji',
};
const log = { info: console.log, warn: console.warn, error: console.error };

/** The machine's Chromium, the headless shell where possible; installed first as root. */
export async function findBrowser(
  _folder: string,
  progress: (line: string) => void,
): Promise<Part<'browser'>> {
  return { value: { program: await installed(progress) }, stop: async () => {} };
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
