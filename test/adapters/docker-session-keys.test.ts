import { readFileSync } from 'node:fs';
import t from 'tap';
import { allowSessionKeys } from '../../src/adapters/docker/session-keys.ts';
import { aFolderOf } from '../support/folder.ts';

t.test('limits of the kernel are raised, never lowered', async (t) => {
  for (const [maxkeys, then] of [
    ['200\n', '20000\n'],
    ['30000\n', '30000\n'],
  ] as const) {
    const folder = aFolderOf(t, { maxkeys, maxbytes: '20000\n' });
    await allowSessionKeys(folder);
    t.equal(readFileSync(`${folder}/maxkeys`, 'utf8'), then);
    t.equal(readFileSync(`${folder}/maxbytes`, 'utf8'), '500000\n');
  }
});

t.test('a machine without them stays as it is', async (t) => {
  await t.resolves(allowSessionKeys(`${aFolderOf(t, {})}/none`));
});
