import { readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vite';

const root = path.dirname(import.meta.dirname);
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** The command `berth` as one file, for any machine with Node.js 20. */
export default defineConfig({
  root,
  publicDir: false,
  define: { BERTH_VERSION: JSON.stringify(version) },
  build: {
    ssr: path.join(root, 'src', 'cli', 'berth.ts'),
    target: 'node20',
    rolldownOptions: {
      output: {
        entryFileNames: 'berth.mjs',
        codeSplitting: false,
      },
    },
  },
  ssr: { noExternal: true },
});
