import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import type { Test } from 'tap';
import { create } from 'tar';
import { aFolder } from '../folder.ts';
import { addressOf } from '../listen.ts';

/** The package of the registry. */
export const NAME = '@berth-test/native';
export const digestOf = (bytes: Buffer): string =>
  `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

/** A registry with one package, and a checkout whose lock file names that digest of it. */
export async function aPackageScene(t: Test, lock: (content: Buffer) => string) {
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
