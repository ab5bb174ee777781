import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import t, { type Test } from 'tap';
import { create } from 'tar';
import { lockedPackage } from '../../scripts/lib/locked-package.mjs';
import { aFolder } from '../support/folder.ts';
import { addressOf } from '../support/listen.ts';

const NAME = '@berth-test/native';
const digestOf = (bytes: Buffer): string => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

/** A registry with one package, and a checkout whose lock file names that digest of it. */
async function aScene(t: Test, lock: (content: Buffer) => string) {
  const [root, made] = [aFolder(t), aFolder(t)];
  writeFileSync(path.join(made, 'package.json'), JSON.stringify({ name: NAME, version: '1.0.0' }));
  await create({ cwd: made, file: path.join(made, 'native.tgz'), gzip: true, prefix: 'package' }, [
    'package.json',
  ]);
  const content = readFileSync(path.join(made, 'native.tgz'));
  let downloads = 0;
  const server = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) {
      downloads += 1;
      response.end(content);
      return;
    }
    const dist = { tarball: `${registry}/native.tgz`, integrity: digestOf(content) };
    const versions = { '1.0.0': { name: NAME, version: '1.0.0', dist } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name: NAME, 'dist-tags': { latest: '1.0.0' }, versions }));
  });
  const registry = await addressOf(t, server);
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  writeFileSync(path.join(root, '.npmrc'), `registry=${registry}\ncache=${path.join(made, 'cache')}\n`);
  const packages = { [`node_modules/${NAME}`]: { version: '1.0.0', integrity: lock(content) } };
  writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify({ packages }));
  return { root, content, close, downloads: () => downloads };
}

t.test('a package of another platform is downloaded once, with the locked content', async (t) => {
  const { root, content, downloads } = await aScene(t, digestOf);
  const file = await lockedPackage(root, NAME);
  t.same(readFileSync(file ?? ''), content);
  t.equal(await lockedPackage(root, NAME), file);
  t.equal(downloads(), 1);
  writeFileSync(file ?? '', 'damaged');
  await lockedPackage(root, NAME);
  t.same(readFileSync(file ?? ''), content, 'a damaged file is replaced');
});

t.test('other content than the locked one is refused', async (t) => {
  const { root } = await aScene(t, () => digestOf(Buffer.from('something else')));
  await t.rejects(lockedPackage(root, NAME), /is not what package-lock.json names/);
});

t.test('a registry that does not answer is no fault', async (t) => {
  const { root, close } = await aScene(t, digestOf);
  close();
  t.equal(await lockedPackage(root, NAME), null);
});
