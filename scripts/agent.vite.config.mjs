import { readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vite';

const root = path.dirname(import.meta.dirname);
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** The agent as one file beside its native module, for machines with Node.js 22. */
export default defineConfig({
  root,
  publicDir: false,
  define: { BERTH_VERSION: JSON.stringify(version) },
  build: {
    ssr: path.join(root, 'src', 'agent', 'bin', 'agent.ts'),
    target: 'node22',
    rolldownOptions: {
      output: {
        entryFileNames: 'agent.mjs',
        codeSplitting: false,
      },
    },
  },
  ssr: { noExternal: true, external: ['@lydell/node-pty'] },
});
