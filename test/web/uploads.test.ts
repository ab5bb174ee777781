import t from 'tap';
import { BerthError } from '../../src/client/request/errors.ts';
import { freeName, shellWord } from '../../web/src/uploads/file-names.ts';
import { atFreeName, withFreeNames } from '../../web/src/uploads/free-names.ts';

t.test('an upload replaces no file', async (t) => {
  const taken = new Set(['a.txt', 'a-2.txt', 'Makefile', '.env']);
  const cases: [string, string][] = [
    ['b.txt', 'b.txt'],
    ['a.txt', 'a-3.txt'],
    ['Makefile', 'Makefile-2'],
    ['.env', '.env-2'],
  ];
  for (const [name, free] of cases) t.equal(freeName(name, taken), free);
});

t.test('a path is typed as one word of the shell', async (t) => {
  t.equal(shellWord('/workspace/a-2.txt'), '/workspace/a-2.txt');
  t.equal(shellWord('/workspace/my file.txt'), "'/workspace/my file.txt'");
  t.equal(shellWord("/workspace/it's $HOME; rm"), "'/workspace/it'\\''s $HOME; rm'");
});

const filesOf = (...names: string[]) => names.map((name) => ({ name }));
const namesOf = async (named: readonly { readonly name: string }[]) => named.map(({ name }) => name);
const nothing = async () => new Set<string>();

t.test("a file's name types no keys", async (t) => {
  const keys = 'a\x03echo owned>/tmp/owned\r\x1b[201~\x7f\x9b.pdf';
  const plain = 'a_echo owned>/tmp/owned__[201~__.pdf';
  t.equal(shellWord(`/workspace/${keys}`), `'/workspace/${plain}'`);
  t.same(
    await withFreeNames('c', filesOf(keys), nothing, namesOf),
    [plain],
    'the stored name is the typed one',
  );
});

t.test("uploads at the same time do not replace each other's files", async (t) => {
  const folder = new Set(['a.txt']);
  const list = async () => new Set(folder);
  const send = async (named: readonly { readonly name: string }[]) => {
    for (const { name } of named) folder.add(name);
    return await namesOf(named);
  };
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  // Reads the folder before the second one stores its files, and chooses names afterwards.
  const listLate = async () => {
    const names = await list();
    await answered;
    return names;
  };
  const first = withFreeNames('c', filesOf('a.txt', 'b.txt', 'b.txt'), listLate, send);
  t.same(await withFreeNames('c', filesOf('a.txt', 'b.txt'), list, send), ['a-2.txt', 'b.txt']);
  t.same(await withFreeNames('other', filesOf('b.txt'), nothing, namesOf), ['b.txt']);
  answer();
  t.same(await first, ['a-3.txt', 'b-2.txt', 'b-3.txt']);
  folder.clear();
  t.same(await withFreeNames('c', filesOf('b.txt'), list, send), ['b.txt'], 'free again afterwards');
});

t.test('a name is free again when its upload failed', async (t) => {
  const fail = () => Promise.reject(new Error('cut off'));
  await t.rejects(withFreeNames('c', filesOf('a.txt'), nothing, fail), { message: 'cut off' });
  t.same(await withFreeNames('c', filesOf('a.txt'), nothing, namesOf), ['a.txt']);
});

t.test('a name that somebody else takes meanwhile is not replaced', async (t) => {
  const stored: string[] = [];
  const send = async (path: string) => {
    if (['/workspace/a.txt', '/workspace/a-2.txt'].includes(path))
      throw new BerthError(409, 'file_in_the_way', '');
    stored.push(path);
  };
  const path = await withFreeNames(
    'c',
    filesOf('a.txt'),
    nothing,
    async ([named]) => named && atFreeName(named, send),
  );
  t.same([path, stored], ['/workspace/a-3.txt', ['/workspace/a-3.txt']]);
  let tries = 0;
  const never = async (): Promise<void> => {
    tries += 1;
    throw new BerthError(409, 'file_in_the_way', '');
  };
  await t.rejects(
    withFreeNames('c', filesOf('a.txt'), nothing, async ([named]) => named && atFreeName(named, never)),
  );
  t.equal(tries, 10);
});
