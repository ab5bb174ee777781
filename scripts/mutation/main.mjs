import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Fault, runMain } from '../lib/fault.mjs';
import { mutate } from './mutants.mjs';
import { report } from './report.mjs';
import { survey } from './survey.mjs';
import { tryAll } from './trial.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const work = path.join(root, '.tap', 'mutation');

const SOURCES = ['src/domain', 'src/app', 'src/adapters/websocket'];
const TESTS = ['test/domain', 'test/app', 'test/http', 'test/adapters/websocket/socket-timing.test.ts'];

/** These bring a database of their own, or take minutes. */
const NOT_PURE =
  /support\/(database\/(database|embedded)|engine\/(engine-child|own-engine)|browser\/page)\.ts|setTimeout\(240_000\)/;

await runMain(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      every: { type: 'string', default: '1' },
      jobs: { type: 'string', default: `${availableParallelism()}` },
      judge: { type: 'boolean', default: false },
    },
  });
  const every = count(values.every, '--every');
  const where = { root, code: path.join(work, 'code') };
  const named = (/** @type {string} */ start) => positionals.filter((name) => name.startsWith(start));
  const sources = filesIn(orAll(named('src'), SOURCES), '.ts');
  const tests = filesIn(orAll(named('test'), TESTS), '.test.ts').filter(isPure);
  if (sources.length === 0 || tests.length === 0) throw new Fault('no such files');
  mkdirSync(work, { recursive: true });

  const mutants = await mutate(root, where.code, sources);
  console.log(`# ${mutants.length} mutants in ${sources.length} files, ${tests.length} test files`);
  const known = await survey(tests, { jobs: count(values.jobs, '--jobs'), where });
  const verdicts = await tryAll(mutants, known, { every, jobs: count(values.jobs, '--jobs'), where });
  writeFileSync(path.join(work, 'report.json'), JSON.stringify(verdicts, null, 2));
  return report(verdicts, { judge: values.judge });
});

/**
 * @param {string} value
 * @param {string} option
 */
function count(value, option) {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new Fault(`${option} wants a number of 1 or more`);
  return number;
}

/**
 * @param {readonly string[]} some
 * @param {readonly string[]} all
 */
function orAll(some, all) {
  return some.length > 0 ? some : all;
}

/**
 * @param {readonly string[]} names
 * @param {string} ending
 */
function filesIn(names, ending) {
  return names.flatMap((name) => {
    const isFolder = statSync(path.join(root, name), { throwIfNoEntry: false })?.isDirectory();
    return isFolder ? globSync(`${name}/**/*${ending}`, { cwd: root }).sort() : [path.normalize(name)];
  });
}

/** @param {string} file */
function isPure(file) {
  return !NOT_PURE.test(readFileSync(path.join(root, file), 'utf8'));
}
