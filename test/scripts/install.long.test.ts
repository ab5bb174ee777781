import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import t, { type Test } from 'tap';
import { create } from 'tar';
import { dependenciesAreFresh, ensureDependencies } from '../../scripts/lib/install.mjs';
import { runProcess } from '../support/child.ts';
import { aFolderOf, write } from '../support/folder.ts';
import { addressOf } from '../support/listen.ts';

const STAMP = 'node_modules/.berth-install.json';
const all = { dev: true };

/** A registry of one package; its versions may become more. Answers the registry's address. */
async function aRegistry(t: Test, versions: ReadonlySet<string>): Promise<string> {
  const packed = (version: string): Buffer => {
    const folder = aFolderOf(t, { 'package/package.json': JSON.stringify({ name: 'dep', version }) });
    return create({ gzip: true, cwd: folder, sync: true }, ['package']).read() as Buffer;
  };
  const server = createServer(({ url = '', headers }, response) => {
    const asked = /dep-(.*)\.tgz$/.exec(url)?.[1];
    if (asked !== undefined) return void response.end(packed(asked));
    const described = [...versions].map((version) => {
      const dist = { tarball: `http://${headers.host}/dep/-/dep-${version}.tgz` };
      return [version, { name: 'dep', version, dist }] as const;
    });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name: 'dep', versions: Object.fromEntries(described) }));
  });
  return `${await addressOf(t, server)}/`;
}

/** Asks for this version of the registry's package. */
function ask(root: string, version: string): void {
  const manifest = { name: 'app', version: '1.0.0', dependencies: { dep: version } };
  const packages = { '': manifest, 'node_modules/dep': { version } };
  write(root, 'package.json', JSON.stringify(manifest));
  write(root, 'package-lock.json', JSON.stringify({ name: 'app', lockfileVersion: 3, packages }));
}

t.test('dependencies are installed once by any number of processes, until the lock changes', async (t) => {
  const versions = new Set(['1.0.0']);
  const registry = await aRegistry(t, versions);
  const root = aFolderOf(t, {});
  write(root, '.npmrc', `registry=${registry}\ncache=${path.join(root, 'cache')}\n`);
  ask(root, '1.0.0');
  const install = path.resolve('scripts/lib/install.mjs');
  const code = `import { ensureDependencies } from '${install}'; await ensureDependencies('${root}', { dev: true });`;
  const children = [1, 2].map(() => runProcess(t, process.execPath, ['--input-type=module', '-e', code]));
  t.same(
    await Promise.all(children.map(({ ended }) => ended)),
    [0, 0],
    children.map(({ errors }) => errors()).join(),
  );
  const stamp = readFileSync(path.join(root, STAMP), 'utf8');
  const installed = () => JSON.parse(readFileSync(path.join(root, 'node_modules/dep/package.json'), 'utf8'));
  t.equal(installed().version, '1.0.0');
  t.ok(dependenciesAreFresh(root, all));
  await ensureDependencies(root, all);
  t.equal(readFileSync(path.join(root, STAMP), 'utf8'), stamp);

  versions.add('2.0.0');
  ask(root, '2.0.0');
  t.notOk(dependenciesAreFresh(root, all), 'a changed lock makes it stale');
  await ensureDependencies(root, all);
  t.equal(installed().version, '2.0.0', 'a version that the cache of npm does not know is fetched');
});

t.test('when npm fails, its whole output is shown', async (t) => {
  const manifest = { name: 'app', version: '1.0.0' };
  const lock = { ...manifest, lockfileVersion: 3, packages: { '': manifest } };
  const root = aFolderOf(t, { 'package-lock.json': JSON.stringify(lock) });
  write(root, 'package.json', JSON.stringify({ ...manifest, dependencies: { other: 'file:nowhere' } }));
  await t.rejects(ensureDependencies(root, all), { message: /npm error.*npm ci failed with exit code 1/s });
});
