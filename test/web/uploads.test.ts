import t from 'tap';
import { freeName, shellWord } from '../../web/src/uploads/file-names.ts';

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
