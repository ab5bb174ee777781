import { globSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Fault, runMain } from '../lib/fault.mjs';
import { pureTests } from '../lib/test/units.mjs';
import { mutate } from './mutants.mjs';
import { report, survivorsOf } from './report.mjs';
import { survey } from './survey.mjs';
import { tryAll } from './trial.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const work = path.join(root, '.tap', 'mutation');
const reportFile = path.join(work, 'report.json');

const SOURCES = ['src/domain', 'src/app', 'src/adapters/websocket', 'src/protocol'];
/** The files in these folders that need only Node.js. */
const TESTS = ['test/domain', 'test/app', 'test/http', 'test/adapters', 'test/attacks', 'test/docs'];

await runMain(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      every: { type: 'string', default: '1' },
      from: { type: 'string', default: '0' },
      again: { type: 'boolean', default: false },
      jobs: { type: 'string', default: `${availableParallelism()}` },
      judge: { type: 'boolean', default: false },
    },
  });
  const jobs = count(values.jobs, '--jobs');
  const sample = { every: count(values.every, '--every'), from: count(values.from, '--from', 0) };
  const before = values.again ? survivorsOf(reportFile) : null;
  const where = { root, code: path.join(work, 'code') };
  const named = (/** @type {string} */ start) => positionals.filter((name) => name.startsWith(start));
  const sources = filesIn(orAll(named('src'), SOURCES), '.ts');
  const pure = new Set(pureTests(root));
  const tests = filesIn(orAll(named('test'), TESTS), '.test.ts').filter((file) => pure.has(file));
  if (sources.length === 0 || tests.length === 0) throw new Fault('no such files');
  mkdirSync(work, { recursive: true });

  const mutants = await mutate(root, where.code, sources);
  console.log(`# ${mutants.length} mutants in ${sources.length} files, ${tests.length} test files`);
  const known = await survey(tests, { jobs, where });
  const verdicts = await tryAll(mutants, known, { sample, before, jobs, where });
  writeFileSync(reportFile, JSON.stringify(verdicts, null, 2));
  return report(verdicts, { judge: values.judge });
});

/**
 * @param {string} value
 * @param {string} option
 * @param {number} [least]
 */
function count(value, option, least = 1) {
  const number = Number(value);
  if (!Number.isInteger(number) || number < least)
    throw new Fault(`${option} wants a number of ${least} or more`);
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
