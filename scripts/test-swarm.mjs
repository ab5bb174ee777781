import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { ensureBuild } from './lib/build.mjs';
import { Fault, runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';

/**
 * The tests on a Swarm of three nodes: `npm run test:swarm -- docker-26 <test files>`. `--cluster`: only starts it, until
 * Ctrl-C.
 */
const root = path.dirname(import.meta.dirname);
const FOLDER = path.join('test', 'swarm');
const CACHE = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'berth-test');
const USUAL = 'docker-20.10';
/** Nodes are lost and found in real time. */
const LIMIT_SECONDS = 2400;

const given = process.argv.slice(2);
const named = given.filter((arg) => arg.endsWith('.ts'));
const [engine = USUAL, ...others] = given.filter((arg) => !arg.startsWith('--') && !arg.endsWith('.ts'));
const progress = (/** @type {string} */ line) => console.log(`# ${line}`);

await runMain(async () => {
  await ensureDependencies(root, { dev: true });
  const { ENGINES } = await import('./lib/engines/engines.mjs');
  const known = Object.keys(ENGINES).filter((name) => name.startsWith('docker-'));
  if (others.length > 0 || !known.includes(engine))
    throw new Fault(`${[engine, ...others].join(', ')}: one of ${known.join(', ')}`);
  const { startOwnSwarm } = await import('./lib/swarm/own-swarm.mjs');
  const { stop, ...facts } = await startOwnSwarm(root, { cache: CACHE, engine, progress });
  try {
    if (given.includes('--cluster')) return await serve(facts);
    process.env['TEST_SWARM'] = JSON.stringify(facts);
    return await runAll();
  } finally {
    await stop();
  }
});

/** @param {import('./lib/swarm/own-swarm.mjs').SwarmFacts} facts */
async function serve(facts) {
  const [manager] = facts.nodes;
  console.log(`DOCKER_HOST=tcp://${manager?.address}:2376 DOCKER_CERT_PATH=${facts.certificates}`);
  for (const { name, socket } of facts.nodes) console.log(`${name}: unix://${socket}`);
  console.log(`TEST_SWARM='${JSON.stringify(facts)}'`);
  console.log('The Swarm runs until Ctrl-C.');
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve);
  });
  return 0;
}

async function runAll() {
  await ensureBuild(root);
  const all = readdirSync(path.join(root, FOLDER)).filter((name) => name.endsWith('.test.ts'));
  const files = named.length > 0 ? named : all.map((name) => path.join(FOLDER, name)).sort();
  const { summary } = await import('./lib/test/tally.mjs');
  const { runTests } = await import('./lib/test/tests.mjs');
  const options = { print: console.log, atOnce: 1, limitSeconds: LIMIT_SECONDS };
  const { code, tally } = await runTests(root, files, options);
  console.log(summary(tally));
  return code;
}
