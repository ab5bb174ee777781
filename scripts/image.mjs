import { spawn } from 'node:child_process';
import path from 'node:path';
import { ensureBuild } from './lib/build.mjs';
import { exitCode, watched } from './lib/command.mjs';
import { runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';
import { modernNode } from './lib/node.mjs';

const root = path.dirname(import.meta.dirname);
const args = [path.join(root, 'scripts/lib/image/main.mjs'), ...process.argv.slice(2)];

/** Makes an image without a container engine: of this service, or the base image of containers. */
await runMain(async () => {
  await ensureDependencies(root, { dev: true });
  if (process.argv[2] === 'server') await ensureBuild(root);
  const child = watched(() => spawn(modernNode(root), args, { stdio: 'inherit' }));
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(exitCode(code, signal)));
  });
});
