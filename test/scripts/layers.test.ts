import { cpSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { checkLayers } from '../../scripts/lib/layers.mjs';
import { runProcess } from '../support/child.ts';
import { write } from '../support/folder.ts';
import { aTree } from '../support/tree.ts';

const CONFIG = '.dependency-cruiser.mjs';
const GOOD = {
  'src/domain/thing.ts': 'export type Thing = { readonly id: string };\n',
  'src/ports/store.ts':
    "import type { Thing } from '../domain/thing.ts';\nexport type Store = { get(): Thing };\n",
};

function aSource(t: Test, files: Readonly<Record<string, string>>): string {
  const root = aTree(t, { ...GOOD, ...files });
  cpSync(CONFIG, path.join(root, CONFIG));
  return root;
}

t.test('imports that point inwards pass', async (t) => {
  t.match(await checkLayers(aSource(t, {})), { ok: true, report: '2 files, no violation' });
});

t.test('an import that points outwards fails, named', async (t) => {
  const outward = "import type { Store } from '../ports/store.ts';\nexport type Held = { store: Store };\n";
  const root = aSource(t, { 'src/domain/held.ts': outward });
  const verdict = await checkLayers(root);
  t.match(verdict, { ok: false, report: 'domain-is-pure: src/domain/held.ts → src/ports/store.ts' });
  const script = runProcess(t, process.execPath, ['scripts/arch.mjs'], root);
  t.equal(await script.line(), verdict.report);
  t.equal(await script.ended, 1);
});

t.test('infrastructure in the domain fails', async (t) => {
  const root = aSource(t, { 'src/domain/held.ts': "import fs from 'node:fs';\nexport const held = fs;\n" });
  t.match(await checkLayers(root), {
    ok: false,
    report: /domain-is-pure: src\/domain\/held\.ts → (node:)?fs/,
  });
});

t.test('a check that read nothing, or less than there is, fails', async (t) => {
  const blind = aSource(t, {});
  write(blind, CONFIG, 'export default { forbidden: [], options: { includeOnly: "^nowhere/" } };');
  t.match(await checkLayers(blind), { ok: false, report: 'only 0 of 2 files below src were read' });
  write(blind, CONFIG, 'export default { forbidden: [], options: { exclude: "^src/ports/" } };');
  t.match(await checkLayers(blind), { ok: false, report: 'only 1 of 2 files below src were read' });
});

t.test('a check that cannot run fails with what it said', async (t) => {
  const root = aSource(t, {});
  write(root, CONFIG, 'export default { forbidden: "nonsense" };');
  t.match(await checkLayers(root), { ok: false, report: /forbidden/ });
});
