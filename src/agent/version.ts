import { readFileSync } from 'node:fs';

/** The version of the installation that this file belongs to. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
