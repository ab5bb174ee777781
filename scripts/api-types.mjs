import path from 'node:path';
import { writeApiTypes } from './lib/api-types.mjs';
import { runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';

const root = path.dirname(import.meta.dirname);

await runMain(async () => {
  await ensureDependencies(root, { dev: true });
  await writeApiTypes(root);
  return 0;
});
