import { Readable } from 'node:stream';
import t from 'tap';
import { listingAnswer } from '../../../../src/adapters/http/replies/listing-reply.ts';
import { memoryAccess, memoryRuntime } from '../../../../src/adapters/memory/index.ts';
import { listing } from '../../../../src/adapters/scripts/files/folder-listing.ts';
import { FILE_LIMITS } from '../../../../src/domain/containers/files.ts';
import { refuse } from '../../../../src/domain/result.ts';
import { OutcomeUnknown } from '../../../../src/ports/containers/container-runtime.ts';
import { TerminalNotStarted } from '../../../../src/ports/terminals/terminal-backend.ts';
import { untar } from '../../../support/engine/container.ts';
import { aBoxOfAda, JSON_LIST } from '../../../support/service/cluster.ts';
import { auditOf } from '../../../support/service/service.ts';
import { valuesOf } from '../../../support/values.ts';

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

t.test('a body of any type is bytes', async (t) => {
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

t.test('a folder is a tar archive unless a list is requested', async (t) => {
  const { put, get } = await aBoxOfAda();
  await put('proj/src/a', 'one');
  const answer = await get('proj');
  t.match(answer.headers, {
    'content-type': 'application/x-tar',
    'content-disposition': 'attachment; filename=proj.tar',
  });
  t.same(valuesOf(untar(answer.rawPayload), 'path'), ['proj/', 'proj/src/', 'proj/src/a']);
  t.match((await get('')).headers, { 'content-disposition': 'attachment; filename=workspace.tar' });
});

t.test('every unavailable path is refused in its own words', async (t) => {
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
  const add = (name: string) =>
    call('PUT', `${url}/files?path=${name}&replace=false`, Buffer.from('x'), {
      'content-type': 'text/plain',
    });
  t.match((await add('file')).json(), { code: 'file_in_the_way' });
  t.equal((await add('another')).statusCode, 201);
});

t.test('each refusal of files has its status and words', async (t) => {
  const answers = {
    file_outside: [409, 'the path leads outside the workspace'],
    file_special: [409, 'not a regular file or folder'],
    file_in_the_way: [409, 'a file or folder with that name is in the way'],
    file_not_permitted: [409, 'not permitted in the container'],
    file_tools_missing: [409, 'the image lacks a program needed to access files'],
    file_too_large: [413, 'the file is too large'],
    disk_full: [507, 'no space left in the workspace'],
  } as const;
  for (const [code, [status, error]] of Object.entries(answers)) {
    const refused = async () => refuse({ code: code as keyof typeof answers });
    const { put } = await aBoxOfAda({ files: { open: refused, write: refused, remove: refused } });
    const answer = await put('x', 'x');
    t.same([answer.statusCode, answer.json()], [status, { error, code }]);
  }
  const full = async (): Promise<never> => {
    throw new TerminalNotStarted('no_processes');
  };
  const { put } = await aBoxOfAda({ files: { open: full, write: full, remove: full } });
  t.equal((await put('x', 'x')).json().code, 'too_many_processes');
});

const MIB = 1_048_576;
t.test('a change of a file is on record before it is made', async (t) => {
  let changes = 0;
  const lost = async () => {
    changes += 1;
    throw new OutcomeUnknown();
  };
  const { put, call, url, service } = await aBoxOfAda({ files: { open: lost, write: lost, remove: lost } });
  const change = {
    file_uploaded: () => put('a', 'x'),
    file_deleted: () => call('DELETE', `${url}/files?path=a`),
  };
  const { audit } = service.ports.storage.repositories;
  const { append } = audit;
  for (const action of ['file_uploaded', 'file_deleted'] as const) {
    Object.assign(audit, { append: () => Promise.reject(new Error('the database has gone')) });
    t.equal((await change[action]()).statusCode, 500);
    t.equal(changes, 0, 'what cannot be recorded is not done');
    Object.assign(audit, { append });
    t.match((await change[action]()).json(), { code: 'file_outcome_unknown' });
    t.equal(auditOf(service, action).length, 1);
    changes = 0;
  }
});

/** The output of stat for a folder of files named by control characters, as a container can make them. */
const nasty = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, at) =>
    Buffer.from(`81a4/1/1700000000/./${'\u0001'.repeat(240)}${at}/\n`),
  );

const END = Buffer.from('end/\n');

t.test('names of control characters do not multiply a listing', async (t) => {
  const { entries, complete } = await listing(Readable.from(nasty(10_000)), FILE_LIMITS);
  t.equal(complete, false, 'and the answer says that it is cut');
  t.ok(entries.length > 1000);
  let size = 0;
  for await (const piece of listingAnswer(['x'], { kind: 'listing', entries, complete })) {
    size += Buffer.byteLength(piece);
  }
  t.ok(size > MIB && size < 2 * MIB, `${size} bytes`);
});

t.test('a long listing waits for a slot while it is read, a short one does not', async (t) => {
  let read = 0;
  async function* output(): AsyncGenerator<Buffer> {
    for (const record of nasty(1000)) {
      read += 1;
      yield record;
    }
    yield END;
  }
  const { promise: room, resolve: give } = Promise.withResolvers<void>();
  let asked = 0;
  const hold = {
    freeBytes: 16_384,
    unwanted: new AbortController().signal,
    more: () => {
      asked += 1;
      return room;
    },
  };
  const reading = listing(output(), FILE_LIMITS, hold);
  while (asked === 0) await new Promise(setImmediate);
  t.ok(read < 30, `${read} entries are kept without asking`);
  give();
  t.equal((await reading).entries.length, 1000);
  t.equal(asked, 1, 'asked once');
  t.equal((await listing(Readable.from([...nasty(5), END]), FILE_LIMITS, hold)).entries.length, 5);
  t.equal(asked, 1);
});

t.test('a large listing is complete, and made in pieces', async (t) => {
  const { put, get } = await aBoxOfAda();
  for (let n = 0; n < 150; n += 1) await put(`many/${String(n).padStart(3, '0')}"ü.txt`, 'x');
  const answer = await get('many', JSON_LIST);
  t.match(answer.headers['content-type'], /^application\/json/);
  const { path, entries, complete } = answer.json();
  t.same([path, entries.length, complete], ['/workspace/many', 150, true]);
  t.match(entries[149], { name: '149"ü.txt', type: 'file', size: 1, mode: '0644', modified: /Z$/ });
  t.same((await get('many/000"ü.txt', JSON_LIST)).body, 'x', 'a file is a file');
});

t.test('a loss report is charged to its caller', async (t) => {
  const runtime = memoryRuntime();
  const access = memoryAccess(runtime);
  const paths = Array.from({ length: 150 }, (_, at) => ({
    path: `/etc/x${at}/${'\u0001'.repeat(100)}`,
    kind: 'added' as const,
    sizeBytes: 1,
    isFolder: false,
  }));
  const insight = {
    ...access.insight,
    changes: async () => ({ paths, complete: true, layerBytes: 1, debian: null }),
  };
  const { call, url } = await aBoxOfAda({ runtime, insight });
  const answers = await Promise.all(Array.from({ length: 8 }, () => call('GET', `${url}/changes`)));
  for (const answer of answers) {
    t.equal(answer.json().files.length, 150);
    t.ok(answer.body.length > 16_384);
  }
});
