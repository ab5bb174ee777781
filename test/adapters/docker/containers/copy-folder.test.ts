import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { copyFolder } from '../../../../src/adapters/docker/volumes/copy-folder.ts';
import { moduleAt, runModule } from '../../../support/child.ts';
import { waitFor } from '../../../support/patience.ts';

const MODULE = moduleAt('src/adapters/docker/volumes/copy-folder.ts');

/** Volumes as an engine keeps them, a `cp` that waits for the file `go`, and a `sync` that fails unless `healthy`. */
async function aScene(t: Test) {
  const folder = t.testdir({
    from: { _data: { file: 'new' } },
    to: { _data: { left: 'by an earlier attempt' } },
    bin: {
      cp: `#!/bin/sh
cd "$(dirname "$0")/.." && touch began
until [ -e go ]; do sleep 0.05; done
PATH=/usr/bin:/bin cp "$@" && touch ended
`,
      sync: `#!/bin/sh
cd "$(dirname "$0")/.." && { [ -e to/berth-copied ] && echo marked || echo unmarked; } >> synced
[ -e healthy ]
`,
    },
  });
  const at = (...parts: string[]) => path.join(folder, ...parts);
  for (const name of ['cp', 'sync']) await chmod(at('bin', name), 0o755);
  const [source, target] = [at('from', '_data'), at('to', '_data')];
  const code = `
process.env.PATH = ${JSON.stringify(at('bin'))} + ':' + process.env.PATH;
const { copyFolder } = await import(${MODULE});
await copyFolder(${JSON.stringify(source)}, ${JSON.stringify(target)});`;
  return { at, source, target, slowly: () => runModule(t, code) };
}

t.test('after a kill during a copy, another process neither disturbs nor repeats it', async (t) => {
  const { at, source, target, slowly } = await aScene(t);
  await writeFile(at('healthy'), '');
  const killed = slowly();
  await waitFor(() => existsSync(at('began')));
  killed.process.kill('SIGKILL');
  await killed.ended;
  const next = copyFolder(source, target);
  await writeFile(at('go'), '');
  await next;
  t.ok(existsSync(at('ended')), 'it has waited for the first');
  t.equal(await readFile(path.join(target, 'file'), 'utf8'), 'new');
  t.notOk(existsSync(path.join(target, 'left')));
  await writeFile(path.join(source, 'file'), 'changed since');
  await copyFolder(source, target);
  t.equal(await readFile(path.join(target, 'file'), 'utf8'), 'new', 'a complete copy stays as it is');
});

t.test('an incomplete copy is made again', async (t) => {
  const { at, source, target } = await aScene(t);
  await t.rejects(copyFolder(at('nothing'), target), /could not be copied/);
  await mkdir(path.join(target, 'folder'));
  await copyFolder(source, target);
  t.equal(await readFile(path.join(target, 'file'), 'utf8'), 'new');
  t.notOk(existsSync(path.join(target, 'folder')));
});

t.test('a copy counts as complete once its files are on the disk, and its mark too', async (t) => {
  const { at, target, slowly } = await aScene(t);
  await writeFile(at('go'), '');
  const synced = async () => await readFile(at('synced'), 'utf8');
  await slowly().ended;
  t.equal(await synced(), 'unmarked\n');
  t.notOk(existsSync(at('to', 'berth-copied')), 'not on a disk that fails');
  await writeFile(at('healthy'), '');
  await slowly().ended;
  t.equal(await synced(), 'unmarked\nunmarked\nmarked\n');
  t.equal(await readFile(path.join(target, 'file'), 'utf8'), 'new');
});
