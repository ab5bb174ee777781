import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { exitCode, watched } from './lib/command.mjs';
import { Fault, runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';
import { modernNode } from './lib/node.mjs';

const root = path.dirname(import.meta.dirname);
const folder = path.join(root, 'test/bench');
const [name = '', ...args] = process.argv.slice(2);

await runMain(async () => {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.basename(file, '.ts'));
  if (!names.includes(name)) throw new Fault(`usage: npm run bench -- <${names.join('|')}>`);
  await ensureDependencies(root, { dev: true });
  const file = path.join(folder, `${name}.ts`);
  const child = watched(() => spawn(modernNode(root), [file, ...args], { cwd: root, stdio: 'inherit' }));
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(exitCode(code, signal)));
  });
});
