import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { lockedPackage } from '../../scripts/lib/locked-package.mjs';
import { aPackageScene, digestOf, NAME } from '../support/run/locked-package.ts';

t.test('a package of another platform is downloaded once, with the locked content', async (t) => {
  const { root, content, downloads } = await aPackageScene(t, digestOf);
  const file = await lockedPackage(root, NAME);
  t.same(readFileSync(file ?? ''), content);
  t.equal(await lockedPackage(root, NAME), file);
  t.equal(downloads(), 1);
  writeFileSync(file ?? '', 'damaged');
  await lockedPackage(root, NAME);
  t.same(readFileSync(file ?? ''), content, 'a damaged file is replaced');
});

t.test('a registry that does not answer is no fault', async (t) => {
  const { root, close } = await aPackageScene(t, digestOf);
  close();
  t.equal(await lockedPackage(root, NAME), null);
});
