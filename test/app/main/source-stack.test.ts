import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { errorSerializer, sourceStacks } from '../../../src/app/main/process/source-stack.ts';
import { aFolderOf } from '../../support/folder.ts';

/** Line 1, column 1 is line 3, column 5 of the source. */
const map = (source: string) =>
  JSON.stringify({ version: 3, sources: [source], names: [], mappings: 'AAEI' });

t.test('a stack names the sources, with a map for each file of the service', async (t) => {
  const folder = aFolderOf(t, { 'service-one.js': '', 'service-two.js': '', 'packages-one.js': '' });
  const url = (file: string): string => pathToFileURL(path.join(folder, file)).href;
  const source = path.join(import.meta.dirname, '../../../src/app/one.ts');
  writeFileSync(path.join(folder, 'service-one.js.map'), map(path.relative(folder, source)));
  writeFileSync(path.join(folder, 'packages-one.js.map'), map(path.relative(folder, source)));
  const stack = [
    'Error: lost',
    `    at start (${url('service-one.js')}:1:1)`,
    `    at async ${url('service-one.js')}:1:1`,
    `    at unmapped (${url('service-two.js')}:1:1)`,
    `    at query (${url('packages-one.js')}:1:1)`,
    '    at node:internal/main:1:1',
  ];
  const expected = stack
    .with(1, '    at start (src/app/one.ts:3:5)')
    .with(2, '    at async src/app/one.ts:3:5');
  t.same(sourceStacks()(stack.join('\n')).split('\n'), expected);
});

t.test('the log takes whatever was thrown', async (t) => {
  const serialized = errorSerializer();
  t.match(serialized(new TypeError('lost')), { type: 'TypeError', message: 'lost', stack: /lost/ });
  for (const thrown of ['lost', null, undefined, 7]) t.equal(serialized(thrown), thrown);
});
