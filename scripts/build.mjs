import path from 'node:path';
import { ensureBuild } from './lib/build.mjs';
import { runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';

const root = path.dirname(import.meta.dirname);

await runMain(async () => {
  await ensureDependencies(root, { dev: true });
  await ensureBuild(root);
  return 0;
});
