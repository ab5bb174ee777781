import type { Test } from 'tap';
import type { SearchQuery } from '../../../../src/domain/containers/files.ts';
import { type FilePath, pathText } from '../../../../src/domain/containers/files.ts';
import type { RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import type { FileChange, FileSearch } from '../../../../src/ports/containers/inside/file-search.ts';
import { waitFor } from '../../../support/patience.ts';
import type { filesOf } from './files.ts';

type Files = ReturnType<typeof filesOf>;
type Place = { readonly search: FileSearch; readonly handle: RuntimeHandle; readonly files: Files };

/** Guarantees of every search in files, for a running container. */
export async function fileSearchContract(t: Test, place: Place): Promise<void> {
  await t.test('a search finds lines, in whatever files', (t) => searches(t, place));
  await t.test('a watch tells what is created, changed and removed', (t) => watches(t, place));
}

/** `path:line:column:text` of each match, sorted. */
async function found(
  { search, handle }: Place,
  path: FilePath,
  over: Partial<SearchQuery> = {},
): Promise<string[]> {
  const started = await search.search(handle, path, {
    pattern: 'needle',
    isRegex: false,
    ignoresCase: false,
    include: '*',
    ...over,
  });
  if (!started.ok) throw new Error(started.error.code);
  const lines: string[] = [];
  let last: unknown;
  for await (const item of started.value.items) {
    last = item;
    if (item === 'complete') continue;
    const { path: at, line, column, text } = item;
    lines.push(`${at.slice(1).join('/')}:${line}:${column}:${text}`);
  }
  await started.value.end();
  if (last !== 'complete') throw new Error('the search is not complete');
  return lines.sort();
}

async function searches(t: Test, place: Place): Promise<void> {
  const { files } = place;
  const odd = 'a:1:b $(id) "quo\'te" -rf';
  await files.write(['hay', 'plain.txt'], 'first\nsome needle here\nünï needle\n');
  await files.write(['hay', odd, 'x.ts'], 'needle without an end');
  await files.write(['hay', 'new\nline.ts'], 'x needle\n');
  await files.write(['hay', 'empty'], '');
  t.same(await found(place, ['hay']), [
    `${odd}/x.ts:1:1:needle without an end`,
    'new\nline.ts:1:3:x needle',
    'plain.txt:2:6:some needle here',
    'plain.txt:3:5:ünï needle',
  ]);
  t.same(await found(place, ['hay', 'plain.txt']), [
    'plain.txt:2:6:some needle here',
    'plain.txt:3:5:ünï needle',
  ]);
  t.equal((await found(place, ['hay'], { include: '*.ts' })).length, 2);
  t.same(await found(place, ['hay'], { pattern: '^x n.+e$', isRegex: true }), [
    'new\nline.ts:1:3:x needle'.replace(':3:', ':1:'),
  ]);
  t.same(
    await found(place, ['hay'], { pattern: 'n.edle' }),
    [],
    'characters of a plain pattern mean themselves',
  );
  await files.write(['hay', 'code'], 'a = "$(touch /tmp/owned)"; \\n `id` \'; -- needle2\n');
  for (const pattern of ['$(touch /tmp/owned)', "'; --", '`id`', '\\n', '-- needle2', '" ; "'])
    t.equal((await found(place, ['hay'], { pattern })).length, pattern === '" ; "' ? 0 : 1, pattern);
  await files.write(['hay', 'LOUD'], 'Ü SCREAM A.B\n');
  for (const [pattern, isRegex] of [
    ['scream a.b', false],
    ['ScrEAM .\\.b$', true],
    ['[R-S]c[REA]+M', true],
  ] as const)
    t.match(await found(place, ['hay'], { pattern, isRegex, ignoresCase: true }), [
      /^LOUD:1:3:Ü SCREAM A\.B$/,
    ]);
  t.same(await found(place, ['hay'], { pattern: 'scream' }), []);
  await t.rejects(found(place, ['hay', 'absent']), { message: 'file_not_found' });
  await t.rejects(found(place, ['hay'], { pattern: '(', isRegex: true }), { message: 'pattern_invalid' });
  await files.remove(['hay']);
}

async function watches(t: Test, { search, handle, files }: Place): Promise<void> {
  await files.write(['seen', 'deep', 'old'], '1');
  const begin = async (isRecursive: boolean, maxEntries = 100) => {
    const started = await search.watch(handle, ['seen'], { isRecursive, maxEntries });
    if (!started.ok) throw new Error(started.error.code);
    const changes: FileChange[] = [];
    let rounds = 0;
    let isOver: string | null = null;
    const reading = (async () => {
      for await (const item of started.value.items) {
        rounds += 1;
        if (item.kind === 'too_many') isOver = item.kind;
        else changes.push(...item.changes);
      }
    })().catch(() => undefined);
    await waitFor(() => rounds > 0, { what: 'the first round' });
    const has = (type: FileChange['type'], ...path: string[]) =>
      changes.some((one) => one.type === type && pathText(one.path) === pathText(['seen', ...path]));
    const end = () => started.value.end().then(() => reading);
    return { changes, has, end, over: () => isOver, rounds: () => rounds };
  };
  const [deep, flat] = [await begin(true), await begin(false)];
  t.same([deep.changes, flat.changes], [[], []], 'what is there at first is no change');
  await files.write(['seen', 'deep', 'new\n"x"'], '1');
  await files.write(['seen', 'top'], '1');
  await files.write(['seen', 'deep', 'old'], 'longer');
  await waitFor(
    () =>
      deep.has('created', 'deep', 'new\n"x"') &&
      deep.has('changed', 'deep', 'old') &&
      flat.has('created', 'top'),
    { what: 'changes' },
  );
  await files.remove(['seen', 'top']);
  await waitFor(() => deep.has('removed', 'top') && flat.has('removed', 'top'), { what: 'the removal' });
  t.notOk(
    flat.changes.some(({ path }) => path.length > 2),
    'nothing below',
  );
  await Promise.all([deep.end(), flat.end()]);
  const small = await begin(true, 2);
  await waitFor(() => small.over() === 'too_many', { what: 'giving up' });
  await small.end();
  const absent = await search.watch(handle, ['absent'], { isRecursive: true, maxEntries: 1 });
  t.match(absent, { ok: false, error: { code: 'file_not_found' } });
  t.match(await search.watch(handle, ['seen', 'deep', 'old'], { isRecursive: true, maxEntries: 1 }), {
    ok: false,
    error: { code: 'file_special' },
  });
  await files.remove(['seen']);
}
