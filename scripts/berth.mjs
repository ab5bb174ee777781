#!/usr/bin/env node
import { spawn } from 'node:child_process';
import path from 'node:path';
import { buildIsFresh, ensureBuild } from './lib/build.mjs';
import { exitCode, watched } from './lib/command.mjs';
import { runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';
import { modernNode } from './lib/node.mjs';

const root = path.dirname(import.meta.dirname);
const COMMANDS = path.join(root, 'dist', 'app', 'main', 'bin', 'berth.js');

await runMain(async () => {
  await ensureDependencies(root, { dev: !buildIsFresh(root) });
  await ensureBuild(root);
  const args = [COMMANDS, ...process.argv.slice(2)];
  const child = watched(() => spawn(modernNode(root), args, { stdio: 'inherit' }));
  return await new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (code, signal) => resolve(exitCode(code, signal)));
  });
});
