import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A file that is unsteady twice in this many whole runs fails the second one. */
const RUNS = 10;
/** Load affects nothing in these folders, so their files get no second run. */
const STEADY = /^test\/(domain|app|docs|scripts|web)\//;

/**
 * The record of files that passed only alone, a line each: commit, time, file, first failure. A run without any leaves
 * a line too, because runs are counted.
 * @typedef {{ commit: string, at: string }} Run
 * @typedef {{ file: string, failure: string }} Unsteady
 */

/** @param {string} file */
export const mayRunAgain = (file) => !STEADY.test(file);

/**
 * Adds a run to the record. Returns its files that were unsteady before, within the last ten runs.
 * @param {string} record
 * @param {Run} run
 * @param {readonly Unsteady[]} unsteady
 */
export function note(record, { commit, at }, unsteady) {
  const lines = existsSync(record) ? readFileSync(record, 'utf8').split('\n').filter(Boolean) : [];
  const before = lines.map((line) => line.split('\t')).map(([, time = '', file = '']) => ({ time, file }));
  const counted = new Set([...new Set(before.map(({ time }) => time))].slice(1 - RUNS));
  const known = new Set(before.filter(({ time }) => counted.has(time)).map(({ file }) => file));
  const added = unsteady.length > 0 ? unsteady : [{ file: '-', failure: '-' }];
  mkdirSync(path.dirname(record), { recursive: true });
  appendFileSync(
    record,
    added.map((one) => `${[commit, at, one.file, inOneLine(one.failure)].join('\t')}\n`).join(''),
  );
  return unsteady.map(({ file }) => file).filter((file) => known.has(file));
}

/** @param {string} text */
const inOneLine = (text) => text.replace(/\s+/g, ' ').slice(0, 200);
