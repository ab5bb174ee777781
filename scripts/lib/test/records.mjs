import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const CACHE = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'berth-test');

/**
 * The record of unsteady files; file times are beside it. It outlives a clone.
 * @returns {string}
 */
export const unsteadyRecord = () => process.env['TEST_RECORD'] ?? path.join(CACHE, 'unsteady.tsv');

/** What outlives a clone. */
export const cacheFolder = () => path.dirname(unsteadyRecord());

const secondsRecord = () => path.join(cacheFolder(), 'seconds.tsv');

/**
 * The last run time of each test file.
 * @returns {Map<string, number>}
 */
export function readSeconds() {
  try {
    const lines = readFileSync(secondsRecord(), 'utf8').split('\n').filter(Boolean);
    return new Map(lines.map((line) => line.split('\t')).map(([file = '', took]) => [file, Number(took)]));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return new Map();
    throw error;
  }
}

/**
 * Records the times of passed files and forgets deleted files.
 * @param {Iterable<import('./tally.mjs').FileResult>} results
 * @param {(file: string) => boolean} isThere
 */
export function writeSeconds(results, isThere) {
  const seconds = readSeconds();
  for (const { name, ok, ms } of results) if (ok) seconds.set(name, Math.round(ms / 100) / 10);
  const lines = [...seconds].filter(([file]) => isThere(file)).map(([file, took]) => `${file}\t${took}\n`);
  const record = secondsRecord();
  mkdirSync(path.dirname(record), { recursive: true });
  // another run may be reading it
  const draft = `${record}.${process.pid}`;
  writeFileSync(draft, lines.sort().join(''));
  renameSync(draft, record);
}
