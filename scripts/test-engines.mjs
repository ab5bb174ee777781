import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { Fault, runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';

/**
 * The contracts of engines on each engine that Berth knows: `npm run test:engines -- docker-26 <test files>`. Without
 * names all of both.
 */
const root = path.dirname(import.meta.dirname);
const FOLDER = path.join('test', 'adapters', 'docker');
const CACHE = path.join(
  process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'),
  'berth-test',
  'engines',
);
/** A new engine's base image is built first. */
const LIMIT_SECONDS = 1200;

const given = process.argv.slice(2);
const named = given.filter((arg) => arg.endsWith('.ts'));
const progress = (/** @type {string} */ line) => console.log(`# ${line}`);

await runMain(async () => {
  await ensureDependencies(root, { dev: true });
  const { ENGINES, startEngine } = await import('./lib/engines/engines.mjs');
  const names = given.filter((arg) => !arg.endsWith('.ts'));
  const unknown = names.filter((name) => !(name in ENGINES));
  if (unknown.length > 0)
    throw new Fault(`${unknown.join(', ')}: the engines are ${Object.keys(ENGINES).join(', ')}`);
  let code = 0;
  for (const name of names.length > 0 ? names : Object.keys(ENGINES)) {
    progress(`${name}: unpacking`);
    const engine = await startEngine(name, CACHE);
    progress(`${name}: ${engine.version}`);
    try {
      code = (await runOn(engine.env)) || code;
    } finally {
      await engine.stop();
    }
  }
  return code;
});

/** @param {NodeJS.ProcessEnv} env */
async function runOn(env) {
  const { summary } = await import('./lib/test/tally.mjs');
  const { runTests } = await import('./lib/test/tests.mjs');
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    const files = named.length > 0 ? named : filesWithContracts();
    const { code, tally } = await runTests(root, files, {
      print: console.log,
      atOnce: 1,
      limitSeconds: LIMIT_SECONDS,
    });
    console.log(summary(tally));
    return code;
  } finally {
    process.env = before;
  }
}

/** The usual test files of the adapter that run a contract. */
function filesWithContracts() {
  const names = readdirSync(path.join(root, FOLDER), { recursive: true }).map((name) =>
    path.join(FOLDER, `${name}`),
  );
  const usual = names.filter((name) => name.endsWith('.test.ts') && !name.endsWith('.long.test.ts'));
  return usual.filter((name) => /Contract\(/.test(readFileSync(path.join(root, name), 'utf8'))).sort();
}
