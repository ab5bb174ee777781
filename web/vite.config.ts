import { readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import { helpPages } from './help/help-pages.ts';

const FONTS = ['@fontsource-variable/inter', '@fontsource-variable/jetbrains-mono'];

/** The fonts' licences go where the fonts go. */
const fontLicences: Plugin = {
  name: 'font-licences',
  generateBundle() {
    for (const name of FONTS) {
      const folder = path.resolve(import.meta.dirname, '../node_modules', name);
      const fileName = `licences/${path.basename(name)}.txt`;
      this.emitFile({ type: 'asset', fileName, source: readFileSync(path.join(folder, 'LICENSE')) });
    }
  },
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [fontLicences, helpPages],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    // why: the content security policy allows no data: URLs for scripts and fonts
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { '/api': { target: 'http://127.0.0.1:8080', ws: true }, '/readyz': 'http://127.0.0.1:8080' },
  },
});
