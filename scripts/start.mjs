import path from 'node:path';
import { buildIsFresh, ensureBuild, SERVER } from './lib/build.mjs';
import { runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';
import { modernNode } from './lib/node.mjs';
import { runService } from './lib/service.mjs';

const root = path.dirname(import.meta.dirname);

await runMain(async () => {
  await ensureDependencies(root, { dev: !buildIsFresh(root) });
  await ensureBuild(root);
  const args = [path.join(root, SERVER), ...process.argv.slice(2)];
  const cache = path.join(root, 'node_modules', '.cache', 'berth');
  return await runService(modernNode(root), args, { cwd: process.cwd(), cache });
});
