import { readFileSync } from 'node:fs';

declare const BERTH_VERSION: string | undefined;

/** The version that this agent was built with. The bundle has it inside; a checkout in its `package.json`. */
export const VERSION: string = typeof BERTH_VERSION === 'string' ? BERTH_VERSION : versionOfCheckout();

function versionOfCheckout(): string {
  const file = new URL('../../package.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).version;
}
