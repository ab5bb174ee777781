import path from 'node:path';

/**
 * The folder of the installation, with `package.json`, `db` and `web`. This file and the built service's, in
 * `dist/app/main/bin`, are equally deep.
 */
export const ROOT = path.resolve(import.meta.dirname, '../../../..');
