import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * `equivalent`: no test can tell it from the original. `accepted`: a test could, but is not worth writing. `elsewhere`:
 * a test with a database, an engine or a browser finds it.
 * @typedef {{ operator: string, line: string, from: string, to: string, verdict: 'equivalent' | 'accepted' | 'elsewhere' | 'new',
 *   why: string }} Judgement
 * @typedef {import('./trial.mjs').Judged} Judged
 */

const WANTED_PERCENT = 85;
const JUDGED = path.join(import.meta.dirname, 'judged.json');
const MAX_SHOWN = 160;

/**
 * Prints the score and the survivors, unjudged ones last. Returns the exit code.
 * @param {readonly Judged[]} all
 * @param {{ judge: boolean, file?: string }} options with `judge` the new survivors are added to the file of judgements
 */
export function report(all, { judge, file = JUDGED }) {
  const judgements = readJudgements(file);
  const survivors = all.filter(({ verdict }) => verdict === 'survived' || verdict === 'uncovered');
  const judgementOf = (/** @type {Judged} */ mutant) =>
    judgements[mutant.file]?.find((one) => key(one) === key(keyed(mutant)) && one.verdict !== 'new');
  const fresh = survivors.filter((mutant) => judgementOf(mutant) === undefined);
  for (const mutant of survivors) if (!fresh.includes(mutant)) show(mutant, judgementOf(mutant));
  if (fresh.length > 0) console.log('# survivors without a judgement');
  for (const mutant of fresh) show(mutant, undefined);
  const score = table(all);
  console.log(
    `# ${fresh.length} survivors are new; ${score.toFixed(1)} % killed, ${WANTED_PERCENT} % required`,
  );
  if (judge) {
    for (const mutant of fresh) {
      const ofFile = judgements[mutant.file] ?? [];
      judgements[mutant.file] = [...ofFile, { ...keyed(mutant), verdict: 'new', why: '' }];
    }
    writeFileSync(file, `${JSON.stringify(judgements, null, 2)}\n`);
  }
  return score >= WANTED_PERCENT ? 0 : 1;
}

/**
 * @param {string} file
 * @returns {Record<string, Judgement[]>}
 */
const readJudgements = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});

/**
 * The keys of an earlier run's survivors.
 * @param {string} file its verdicts
 */
export function survivorsOf(file) {
  /** @type {Judged[]} */
  const all = JSON.parse(readFileSync(file, 'utf8'));
  const survived = all.filter(({ verdict }) => verdict === 'survived' || verdict === 'uncovered');
  return new Set(survived.map(keyOf));
}

/**
 * Identifies a mutant even if its line has moved.
 * @param {import('./mutants.mjs').Mutant} mutant
 */
export const keyOf = (mutant) => `${mutant.file} ${key(keyed(mutant))}`;

/** @param {import('./mutants.mjs').Mutant} mutant */
const keyed = ({ operator, text, original, replacement }) => ({
  operator,
  line: text.trim(),
  from: short(original),
  to: short(replacement),
});

/** @param {{ operator: string, line: string, from: string, to: string }} mutant */
const key = ({ operator, line, from, to }) => JSON.stringify([operator, line, from, to]);

/** @param {string} text */
const short = (text) => text.replace(/\s+/g, ' ').trim().slice(0, MAX_SHOWN);

/**
 * @param {Judged} mutant
 * @param {Judgement | undefined} judgement
 */
function show(mutant, judgement) {
  const { file, line, operator, verdict, cut, text, original, changed } = mutant;
  const notes = [verdict === 'uncovered' ? 'no test reaches it' : '', cut ? 'not all tests tried' : ''];
  console.log(`${file}:${line} ${operator} ${notes.filter(Boolean).join(', ')}`);
  console.log(`  - ${short(original.includes('\n') ? original : text)}\n  + ${short(changed)}`);
  if (judgement) console.log(`  ${judgement.verdict}: ${judgement.why}`);
}

/**
 * Prints a line per folder; returns the total percentage.
 * @param {readonly Judged[]} all
 */
function table(all) {
  const folders = ['src/domain/', 'src/app/', 'src/adapters/websocket/', 'src/protocol/', 'src/'];
  let percent = 0;
  for (const folder of folders) {
    const some = all.filter(({ file }) => file.startsWith(folder));
    if (some.length === 0) continue;
    const of = (/** @type {string} */ verdict) => some.filter((mutant) => mutant.verdict === verdict).length;
    percent = (100 * (of('killed') + of('timeout'))) / some.length;
    console.log(
      `${folder.padEnd(24)} ${percent.toFixed(1)} % of ${some.length} killed: ${of('killed')} by a test, ${of('timeout')} by the ` +
        `time limit; ${of('survived')} survived, ${of('uncovered')} are reached by no test`,
    );
  }
  return percent;
}
