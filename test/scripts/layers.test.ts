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

t.test('an import that points outwards fails, and infrastructure in the domain, each named', async (t) => {
  const root = aSource(t, {
    'src/domain/outward.ts':
      "import type { Store } from '../ports/store.ts';\nexport type Outward = { store: Store };\n",
    'src/domain/reads.ts': "import fs from 'node:fs';\nexport const reads = fs;\n",
    'src/app/recordings/up.ts': 'export type Up = string;\n',
    'src/app/terminals/looks.ts': "export type { Up } from '../recordings/up.ts';\n",
    'src/domain/terminals/up.ts': 'export type Up = string;\n',
    'src/domain/identity/looks.ts': "export type { Up } from '../terminals/up.ts';\n",
  });
  const script = runProcess(t, process.execPath, ['scripts/arch.mjs'], root);
  const said = [await script.line(), await script.line(), await script.line(), await script.line()].sort();
  t.equal(said[0], 'app-terminals-looks-down: src/app/terminals/looks.ts → src/app/recordings/up.ts');
  t.equal(said[1], 'domain-identity-looks-down: src/domain/identity/looks.ts → src/domain/terminals/up.ts');
  t.equal(said[2], 'domain-is-pure: src/domain/outward.ts → src/ports/store.ts');
  t.match(said[3], /^domain-is-pure: src\/domain\/reads\.ts → (node:)?fs$/);
  t.equal(await script.ended, 1);
});

t.test(
  'the page and the protocol import types from the service, and code from the protocol alone',
  async (t) => {
    const root = aSource(t, {
      'src/domain/value.ts': 'export const value = 7;\nexport type Value = typeof value;\n',
      'src/protocol/frame.ts':
        "import type { Value } from '../domain/value.ts';\nexport const frame: Value = 7;\n",
      'src/protocol/loads.ts': "export { value } from '../domain/value.ts';\n",
      'web/src/shows.ts':
        "import type { Value } from '../../src/domain/value.ts';\nexport type Shown = Value;\n",
      'web/src/speaks.tsx': "export { frame } from '../../src/protocol/frame.ts';\n",
      'web/src/loads.ts': "export { value } from '../../src/domain/value.ts';\n",
    });
    const { ok, report } = await checkLayers(root);
    t.notOk(ok);
    t.same(report.split('\n').sort(), [
      'page-runs-shared-modules: web/src/loads.ts → src/domain/value.ts',
      'protocol-runs-nothing-else: src/protocol/loads.ts → src/domain/value.ts',
    ]);
  },
);

t.test('a check that read less than there is fails', async (t) => {
  const blind = aSource(t, {});
  write(blind, CONFIG, 'export default { forbidden: [], options: { exclude: "^src/ports/" } };');
  t.match(await checkLayers(blind), { ok: false, report: 'only 1 of 2 files below src were read' });
});

t.test('a check that cannot run fails with what it said', async (t) => {
  const root = aSource(t, {});
  write(root, CONFIG, 'export default { forbidden: "nonsense" };');
  t.match(await checkLayers(root), { ok: false, report: /forbidden/ });
});
