import t from 'tap';
import { refuse } from '../../src/domain/result.ts';
import { aBoxOfAda, JSON_LIST } from '../support/inside-service.ts';
import { untar } from '../support/untar.ts';

t.test('a file is uploaded, downloaded, listed and removed', async (t) => {
  const { put, get, call, url } = await aBoxOfAda();
  const bytes = Buffer.from([0, 255, 10, 13, 200]);
  const made = await put('/workspace/a/ünï "x".bin', bytes);
  t.same([made.statusCode, made.json()], [201, { path: '/workspace/a/ünï "x".bin', size: 5, created: true }]);
  const file = await get('a/ünï "x".bin', JSON_LIST);
  t.equal(file.statusCode, 200);
  t.ok(file.rawPayload.equals(bytes));
  t.match(file.headers, {
    'content-length': '5',
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="?n? \\"x\\".bin"; filename*=UTF-8''%C3%BCn%C3%AF%20%22x%22.bin`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'last-modified': / GMT$/,
  });
  t.match((await get('a', JSON_LIST)).json(), {
    path: '/workspace/a',
    entries: [{ name: 'ünï "x".bin', type: 'file', size: 5, mode: '0644', modified: /T.*Z$/ }],
    complete: true,
  });
  const again = await put('a/ünï "x".bin', 'other');
  t.same([again.statusCode, again.json().created], [200, false]);
  const gone = await call('DELETE', `${url}/files?path=a`);
  t.same([gone.statusCode, gone.json()], [200, { path: '/workspace/a', deleted: true }]);
  const absent = await get('a');
  t.same([absent.statusCode, absent.json()], [404, { error: 'file not found', code: 'file_not_found' }]);
});

t.test('a body is bytes, whatever its type says', async (t) => {
  const { put, get } = await aBoxOfAda();
  for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'nonsense/x']) {
    t.equal(
      (await put('file', '{"not json', { 'content-type': type })).statusCode,
      type === 'application/json' ? 201 : 200,
    );
    t.equal((await get('file')).body, '{"not json');
  }
  t.equal((await put('empty', '')).statusCode, 201);
  const empty = await get('empty');
  t.same([empty.headers['content-length'], empty.body], ['0', '']);
});

t.test('a folder is a tar archive for those who do not ask for a list', async (t) => {
  const { put, get } = await aBoxOfAda();
  await put('proj/src/a', 'one');
  const answer = await get('proj');
  t.match(answer.headers, {
    'content-type': 'application/x-tar',
    'content-disposition': 'attachment; filename=proj.tar',
  });
  t.same(
    untar(answer.rawPayload).map(({ path }) => path),
    ['proj/', 'proj/src/', 'proj/src/a'],
  );
  t.match((await get('')).headers, { 'content-disposition': 'attachment; filename=workspace.tar' });
});

t.test('every path that can not be had is refused in its own words', async (t) => {
  const { put, get, call, url } = await aBoxOfAda();
  await put('file', 'x');
  await put('folder/x', 'x');
  for (const path of ['../x', '/etc/passwd', 'a\0b', 'x'.repeat(300)]) {
    for (const answer of [await get(path), await put(path, 'x')]) {
      t.match(
        [answer.statusCode, answer.json()],
        [400, { code: 'validation_failed', fields: { path: String } }],
        path,
      );
    }
  }
  for (const path of ['', '.', '/workspace']) {
    t.equal((await call('DELETE', `${url}/files?path=${path}`)).statusCode, 400, 'the workspace itself');
    t.equal((await put(path, 'x')).statusCode, 400);
  }
  t.match((await call('DELETE', `${url}/files`)).json(), { fields: { path: 'is required' } });
  t.equal((await call('DELETE', `${url}/files?path=nope`)).statusCode, 404);
  t.same((await put('file/below', 'x')).statusCode, 409);
  t.match((await put('folder', 'x')).json(), { code: 'file_in_the_way' });
});

t.test('each refusal of files has its status and words', async (t) => {
  const answers = {
    file_outside: [409, 'the path leads outside of the workspace'],
    file_special: [409, 'not a regular file or folder'],
    file_in_the_way: [409, 'something else of that name is in the way'],
    file_not_permitted: [409, 'not permitted in the container'],
    file_tools_missing: [409, 'the image lacks a program that files need'],
    file_too_large: [413, 'the file is too large'],
    disk_full: [507, 'no space left in the workspace'],
  } as const;
  for (const [code, [status, error]] of Object.entries(answers)) {
    const refused = async () => refuse({ code: code as keyof typeof answers });
    const { put } = await aBoxOfAda({ files: { open: refused, write: refused, remove: refused } });
    const answer = await put('x', 'x');
    t.same([answer.statusCode, answer.json()], [status, { error, code }]);
  }
});
