import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { FOLDER } from '../../src/adapters/scripts/processes/common-scripts.ts';
import { WRITE } from '../../src/adapters/scripts/processes/stream-scripts.ts';

const ID = 'process';
const MOST = '1000000';

/** The folder of a process that does not read its input; `write` runs the script there, changed as a test needs it. */
function aFolder(t: Test) {
  const root = mkdtempSync(join(tmpdir(), 'berth-input-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  const folder = join(root, ID);
  mkdirSync(folder);
  for (const name of ['state', 'read.0']) writeFileSync(join(folder, name), '');
  spawnSync('mkfifo', [join(folder, 'stdin')]);
  const script = WRITE.replace(FOLDER, root);
  type Over = { readonly shell?: string; readonly writer?: string; readonly run?: string };
  const write = (offset: string, text: string, { shell = 'sh', writer = 'w', run = script }: Over = {}) => {
    const args = ['-c', run, 'write', ID, offset, String(text.length), 'no', MOST, writer];
    return spawnSync(shell, args, { input: text, encoding: 'utf8' }).stdout.trim();
  };
  return { folder, script, write, names: () => readdirSync(folder) };
}

/** The script with commands before one of its lines. */
const before = (script: string, line: string, commands: string): string => {
  const changed = script.replace(line, () => `${commands}\n${line}`);
  if (changed === script) throw new Error(`the script has no line ${line}`);
  return changed;
};

for (const shell of ['sh', 'bash']) {
  t.test(`${shell}: input whose write is ended after its commit is taken once`, async (t) => {
    const { script, write, names } = aFolder(t);
    for (const line of ['  read_from\n  if [ -n "$from" ]', '  forget_older "$mine"']) {
      const offset = String(5 * names().filter((name) => name.startsWith('in.')).length);
      write(offset, 'hello', { shell, run: before(script, line, 'kill -TERM $$; sleep 1') });
      const end = Number(offset) + 5;
      t.equal(write(offset, 'hello', { shell }), `taken ${end}`);
      t.equal(names().filter((name) => name.startsWith('in.')).length, end / 5);
    }
  });
}

t.test('a writer that returns while its last write ends continues after that', async (t) => {
  const { folder, script, write, names } = aFolder(t);
  t.equal(write('0', 'abc'), 'taken 3');
  t.equal(write('0', 'others', { writer: 'o' }), 'taken 6');
  const record = names().find((name) => name.startsWith('by.0.w.')) ?? '';
  renameSync(join(folder, record), join(folder, record.replace('by.0.', 'got.')));
  const last = join(folder, 'last');
  writeFileSync(last, script);
  const meanwhile = `[ -e meanwhile ] || { : > meanwhile; printf de | sh ${last} ${ID} 3 2 no ${MOST} w > /dev/null; }`;
  t.equal(write('', '', { run: before(script, '  for file in got."$writer".*; do', meanwhile) }), 'taken 5');
  t.equal(write('5', 'f'), 'taken 6');
});
