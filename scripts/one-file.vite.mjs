import { readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vite';

const root = path.dirname(import.meta.dirname);
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/**
 * A program as one file for Node.js. `entry`: its file below src; `external`: packages that stay outside.
 * @param {{ entry: string, target: string, name: string, external?: string[] }} program
 */
export const oneFile = ({ entry, target, name, external = [] }) =>
  defineConfig({
    root,
    publicDir: false,
    define: { BERTH_VERSION: JSON.stringify(version) },
    build: {
      ssr: path.join(root, 'src', entry),
      target,
      rolldownOptions: {
        output: {
          entryFileNames: name,
          codeSplitting: false,
        },
      },
    },
    ssr: { noExternal: true, external },
  });
