import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { buildIsFresh, SERVER } from '../../scripts/lib/build.mjs';
import { aFolder, write } from '../support/folder.ts';
import { aTree, build } from '../support/tree.ts';

const SOURCE = 'src/app/main/bin/server.ts';
const SOURCES = {
  [SOURCE]: "import { answer } from '../../../answer.ts';\nconsole.log(answer);\n",
  'src/answer.ts': 'export const answer: number = 42;\n',
};
const PAGES = {
  'web/index.html': '<!doctype html><script type="module" src="/src/main.ts"></script>',
  'web/src/main.ts': 'document.title = "Berth";\n',
};

t.test('both halves are built, and then are fresh until a source changes', async (t) => {
  const root = aTree(t, { ...SOURCES, ...PAGES });
  t.notOk(buildIsFresh(root));
  await build(t, root);
  t.match(readFileSync(path.join(root, SERVER), 'utf8'), '../../../answer.js');
  t.match(readFileSync(path.join(root, 'web/dist/index.html'), 'utf8'), /assets\/.*\.js/);
  t.ok(buildIsFresh(root));
  for (const file of ['src/answer.ts', 'web/src/main.ts', 'tsconfig.build.json', 'package-lock.json']) {
    const text = readFileSync(path.join(root, file), 'utf8');
    write(root, file, `${text}\n`);
    t.notOk(buildIsFresh(root), file);
    write(root, file, text);
  }
  write(root, 'src/new.ts', '');
  t.notOk(buildIsFresh(root), 'a new file');
  rmSync(path.join(root, 'src/new.ts'));
  t.ok(buildIsFresh(root));
  rmSync(path.join(root, 'web/dist'), { recursive: true });
  t.notOk(buildIsFresh(root), 'half of the result is missing');
});

t.test('what is fresh is not built again, and a build that fails says why and changes nothing', async (t) => {
  const root = aTree(t, SOURCES);
  await build(t, root);
  const builtAt = statSync(path.join(root, SERVER)).mtimeMs;
  await build(t, root);
  t.equal(statSync(path.join(root, SERVER)).mtimeMs, builtAt);
  write(root, 'src/answer.ts', "export const answer: number = 'wrong';\n");
  await t.rejects(build(t, root), { message: /src\/answer\.ts.*TS2322.*tsc ended with exit code/s });
  t.match(readFileSync(path.join(root, 'dist/answer.js'), 'utf8'), '42');
  t.notOk(existsSync(path.join(root, '.dist-new')));
  t.notOk(buildIsFresh(root), 'the next start tries again');
});

t.test('a folder that holds only the result is fresh', async (t) => {
  const root = aFolder(t);
  write(root, SERVER, '');
  t.ok(buildIsFresh(root));
});
