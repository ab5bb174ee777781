import t from 'tap';
import { FILE_LIMITS, parseFilePath, parseTarget, pathText } from '../../src/domain/files.ts';

t.test('a path is taken below the workspace, however it is written', async (t) => {
  const table: readonly (readonly [string, readonly string[]])[] = [
    ['', []],
    ['.', []],
    ['/workspace', []],
    ['/workspace/', []],
    ['a', ['a']],
    ['a/b', ['a', 'b']],
    ['./a//b/./c/', ['a', 'b', 'c']],
    ['/workspace/a/b', ['a', 'b']],
    ['workspace/a', ['workspace', 'a']],
    ['-rf', ['-rf']],
    ['...', ['...']],
    ['a b/\n"\'$(x)', ['a b', '\n"\'$(x)']],
    ['~', ['~']],
    ['%2e%2e', ['%2e%2e']],
    [Array(FILE_LIMITS.depth).fill('d').join('/'), Array(FILE_LIMITS.depth).fill('d')],
    ['x'.repeat(255), ['x'.repeat(255)]],
  ];
  for (const [text, path] of table)
    t.same(parseFilePath(text), { ok: true, value: path }, JSON.stringify(text));
});

t.test('what leaves the workspace or can not be a name is refused', async (t) => {
  const table = [
    ['..', 'must not contain ..'],
    ['a/../b', 'must not contain ..'],
    ['/workspace/../etc', 'must not contain ..'],
    ['/', 'must be inside /workspace'],
    ['/etc/passwd', 'must be inside /workspace'],
    ['/workspaces/a', 'must be inside /workspace'],
    ['//workspace/a', 'must be inside /workspace'],
    ['a\0b', 'has characters that are not allowed'],
    ['a\ud800b', 'has characters that are not allowed'],
    ['x'.repeat(256), 'has a name that is too long'],
    ['ä'.repeat(128), 'has a name that is too long'],
    [
      Array(FILE_LIMITS.depth + 1)
        .fill('d')
        .join('/'),
      'is deeper than 64 folders',
    ],
    ['a/'.repeat(2049), 'is too long'],
  ] as const;
  const longest = `${Array(16).fill('x'.repeat(255)).join('/')}/`;
  t.equal(longest.length, FILE_LIMITS.pathBytes);
  t.ok(parseFilePath(longest).ok);
  for (const [text, path] of table) {
    t.same(parseFilePath(text), { ok: false, error: { code: 'validation_failed', fields: { path } } }, text);
  }
});

t.test('the workspace itself can be read, but neither written nor removed', async (t) => {
  for (const text of ['', '/', '.', '/workspace', '/workspace/.', './']) t.notOk(parseTarget(text).ok, text);
  t.same(parseTarget('/workspace/a'), { ok: true, value: ['a'] });
});

t.test('a path is shown as it is in the container', async (t) => {
  t.equal(pathText([]), '/workspace');
  t.equal(pathText(['a', 'b c']), '/workspace/a/b c');
});
