import path from 'node:path';
import { defineConfig } from 'vite';

const root = path.dirname(import.meta.dirname);
const main = path.join(root, 'src', 'app', 'main');

/** Packages with native code, or that read files beside their own. They stay in node_modules. */
const EXTERNAL = ['@fastify/static', '@fastify/swagger-ui', '@node-rs/argon2', 'bufferutil', 'ssh2'];

/**
 * The service and its commands, with most packages, in few files: Node.js needs longer to find 2,400 modules than to run
 * them. All files are in the folder of the entry points, from which the service finds its own.
 */
export default defineConfig({
  root,
  publicDir: false,
  environments: {
    ssr: {
      // the files that Node.js itself would load
      resolve: { mainFields: ['main'], noExternal: true, external: EXTERNAL },
    },
  },
  build: {
    ssr: true,
    target: 'node22',
    sourcemap: true,
    emptyOutDir: false,
    rolldownOptions: {
      input: {
        server: path.join(main, 'bin', 'server.ts'),
        berth: path.join(main, 'bin', 'berth.ts'),
        run: path.join(main, 'run.ts'),
      },
      // optional packages that are not installed
      external: ['cpu-features', 'pg-native', 'utf-8-validate'],
      output: {
        entryFileNames: '[name].js',
        // A running service loads some files at first use. After a build it must not load another version's. Stacks
        // would encode the ~ of shared chunks.
        chunkFileNames: ({ name }) => `${name.replaceAll('~', '-')}-[hash].js`,
        minifyInternalExports: false,
        sourcemapExcludeSources: true,
        codeSplitting: {
          groups: [
            { name: 'packages', test: /node_modules/, tags: ['$initial'], entriesAware: true, priority: 1 },
            { name: 'service', tags: ['$initial'], entriesAware: true },
          ],
        },
      },
    },
  },
});
