import t from 'tap';
import { lockedPackage } from '../../scripts/lib/locked-package.mjs';
import { aPackageScene, digestOf, NAME } from '../support/run/locked-package.ts';

t.test('other content than the locked one is refused', async (t) => {
  const { root } = await aPackageScene(t, () => digestOf(Buffer.from('something else')));
  await t.rejects(lockedPackage(root, NAME), /is not what package-lock.json names/);
});
