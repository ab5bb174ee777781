import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { keyOf, report, survivorsOf } from '../../scripts/mutation/report.mjs';

const SOURCE = 'src/domain/x.ts';
const mutant = (line: number, verdict: 'killed' | 'timeout' | 'survived' | 'uncovered') => ({
  id: `${line}`,
  file: SOURCE,
  line,
  operator: 'BooleanLiteral',
  text: `  const is${line} = true;`,
  original: 'true',
  replacement: 'false',
  changed: `  const is${line} = false;`,
  verdict,
  by: '',
  cut: false,
});
const killed = (count: number) => Array.from({ length: count }, (_, at) => mutant(100 + at, 'killed'));

function aReport(t: Test, judgements: object = {}) {
  const file = path.join(t.testdir(), 'judged.json');
  writeFileSync(file, JSON.stringify(judgements));
  const printed: unknown[] = [];
  t.intercept(console, 'log', { value: (line: unknown) => printed.push(line) });
  const run = (all: Parameters<typeof report>[0], judge = false) => {
    const code = report(all, { judge, file });
    return { code, text: printed.splice(0).join('\n') };
  };
  return { run, judged: () => JSON.parse(readFileSync(file, 'utf8')) };
}

const judgement = (verdict: string) => ({
  operator: 'BooleanLiteral',
  line: 'const is1 = true;',
  from: 'true',
  to: 'false',
  verdict,
  why: 'nobody reads it',
});

t.test('an unjudged survivor comes last, with its line', async (t) => {
  const { run } = aReport(t);
  const { code, text } = run([...killed(19), mutant(1, 'survived')]);
  t.equal(code, 0);
  t.match(
    text,
    /without a judgement\nsrc\/domain\/x\.ts:1 BooleanLiteral.*\n {2}- const is1 = true;\n {2}\+ const is1 = false;/,
  );
  t.match(text, /95\.0 % of 20 killed/);
});

t.test('a judged survivor has its reason, wherever its line is now', async (t) => {
  const { run } = aReport(t, { [SOURCE]: [judgement('equivalent')] });
  const { code, text } = run([...killed(19), { ...mutant(1, 'survived'), line: 7 }]);
  t.equal(code, 0);
  t.match(text, /equivalent: nobody reads it/);
});

t.test('a run below 85 % fails', async (t) => {
  const { run } = aReport(t, { [SOURCE]: [judgement('accepted')] });
  t.equal(run([...killed(17), ...Array(3).fill(mutant(1, 'survived'))]).code, 0);
  t.equal(run([...killed(16), ...Array(4).fill(mutant(1, 'uncovered'))]).code, 1);
  t.equal(run([mutant(2, 'timeout'), ...killed(5), mutant(1, 'survived')]).code, 0, 'a time limit kills');
});

t.test('new survivors are recorded, and stay new until judged', async (t) => {
  const { run, judged } = aReport(t);
  const all = [...killed(19), mutant(1, 'survived')];
  run(all, true);
  t.match(judged(), { [SOURCE]: [{ ...judgement('new'), why: '' }] });
  t.match(run(all).text, /1 survivors are new/);
});

t.test('survivors alone are tried in the next run', (t) => {
  const file = path.join(t.testdir(), 'report.json');
  writeFileSync(file, JSON.stringify([mutant(1, 'survived'), mutant(2, 'uncovered'), mutant(3, 'killed')]));
  const before = survivorsOf(file);
  const lines = [1, 2, 3].filter((line) => before.has(keyOf({ ...mutant(line, 'killed'), line: 9 })));
  t.same(lines, [1, 2]);
  t.end();
});

t.test('a judgement names code that is still there', (t) => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const judged: Record<string, { line: string; from: string }[]> = JSON.parse(
    readFileSync(path.join(root, 'scripts/mutation/judged.json'), 'utf8'),
  );
  for (const [file, judgements] of Object.entries(judged)) {
    const source = readFileSync(path.join(root, file), 'utf8');
    const lines = source.split('\n').map((line) => line.trim());
    const code = source.replace(/\s+/g, ' ');
    for (const { line, from } of judgements)
      t.ok(lines.includes(line) && code.includes(from), `${file}: ${line}`);
  }
  t.end();
});
