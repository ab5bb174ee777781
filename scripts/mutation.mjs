import { spawn } from 'node:child_process';
import path from 'node:path';
import { exitCode, watched } from './lib/command.mjs';
import { runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';
import { modernNode } from './lib/node.mjs';

const root = path.dirname(import.meta.dirname);
const folder = path.join(import.meta.dirname, 'mutation');

await runMain(async () => {
  await ensureDependencies(root, { dev: true });
  await ensureDependencies(folder, { dev: true });
  const args = ['--no-warnings', path.join(folder, 'main.mjs'), ...process.argv.slice(2)];
  const child = watched(() => spawn(modernNode(root), args, { cwd: root, stdio: 'inherit' }));
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(exitCode(code, signal)));
  });
});
