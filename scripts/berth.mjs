#!/usr/bin/env node
import { spawn } from 'node:child_process';
import path from 'node:path';
import { buildIsFresh, CLI, ensureBuild } from './lib/build.mjs';
import { exitCode, watched } from './lib/command.mjs';
import { runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';
import { modernNode } from './lib/node.mjs';

const root = path.dirname(import.meta.dirname);
/** Commands that work on the service's own database, not over HTTP. */
const OF_THE_SERVICE = path.join(root, 'dist', 'app', 'main', 'bin', 'berth.js');
const given = process.argv.slice(2);
const isOfTheService =
  ['migrate', 'uninstall', 'use-swarm'].includes(given[0] ?? '') ||
  (given[0] === 'audit' && given[1] === 'verify');
/** Offers this machine to a service elsewhere. */
const AGENT = path.join(root, 'dist', 'agent', 'bin', 'agent.js');

await runMain(async () => {
  await ensureDependencies(root, { dev: !buildIsFresh(root) });
  await ensureBuild(root);
  const args =
    given[0] === 'agent'
      ? [AGENT, ...given.slice(1)]
      : [isOfTheService ? OF_THE_SERVICE : path.join(root, CLI), ...given];
  const child = watched(() => spawn(modernNode(root), args, { stdio: 'inherit' }));
  return await new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (code, signal) => resolve(exitCode(code, signal)));
  });
});
