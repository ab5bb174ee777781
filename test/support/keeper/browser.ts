import { existsSync } from 'node:fs';
import { installPackages } from '../../../src/adapters/docker/packages.ts';
import type { Part } from './part.ts';

const EXECUTABLES = ['/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/chromium-browser'];
// A terminal page is looked at: it needs a monospaced font and one with emoji.
const FONTS = {
  '/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf': 'fonts-dejavu-core',
  '/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf': 'fonts-noto-color-emoji',
};
const log = { info: console.log, warn: console.warn, error: console.error };

/** A Chromium that is installed, or is installed now when we are root. */
export async function startBrowser(
  _folder: string,
  progress: (line: string) => void,
): Promise<Part<'browser'>> {
  const fonts = Object.entries(FONTS).filter(([file]) => !existsSync(file));
  const absent = [...(findExecutable() ? [] : ['chromium']), ...fonts.map(([, name]) => name)];
  if (absent.length > 0 && process.getuid?.() === 0) await installPackages(absent, { progress, log });
  const executable = findExecutable();
  if (executable === undefined) throw new Error('apt-get install chromium');
  return { value: { executable }, stop: async () => {} };
}

const findExecutable = (): string | undefined => EXECUTABLES.find((file) => existsSync(file));
