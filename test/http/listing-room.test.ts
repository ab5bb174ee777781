import { Readable } from 'node:stream';
import t from 'tap';
import { listing } from '../../src/adapters/docker/listing.ts';
import { listingAnswer } from '../../src/adapters/http/listing-answer.ts';
import { memoryAccess, memoryRuntime } from '../../src/adapters/memory/index.ts';
import { FILE_LIMITS } from '../../src/domain/files.ts';
import { aBoxOfAda, JSON_LIST } from '../support/inside-service.ts';

const MIB = 1_048_576;
/** What stat prints of a folder of files whose names are control characters, as a container can make them. */
const nasty = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, at) =>
    Buffer.from(`81a4/1/1700000000/./${'\u0001'.repeat(240)}${at}/\n`),
  );

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

t.test('a long listing waits for room while it is read, a short one does not', async (t) => {
  let read = 0;
  async function* output(): AsyncGenerator<Buffer> {
    for (const record of nasty(1000)) {
      read += 1;
      yield record;
    }
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
  t.equal((await listing(Readable.from(nasty(5)), FILE_LIMITS, hold)).entries.length, 5);
  t.equal(asked, 1);
});

t.test('a listing of many entries is whole, and made in pieces', async (t) => {
  const { put, get } = await aBoxOfAda();
  for (let n = 0; n < 250; n += 1) await put(`many/${String(n).padStart(3, '0')}"ü.txt`, 'x');
  const answer = await get('many', JSON_LIST);
  t.match(answer.headers['content-type'], /^application\/json/);
  const { path, entries, complete } = answer.json();
  t.same([path, entries.length, complete], ['/workspace/many', 250, true]);
  t.match(entries[249], { name: '249"ü.txt', type: 'file', size: 1, mode: '0644', modified: /Z$/ });
  t.same((await get('many/000"ü.txt', JSON_LIST)).body, 'x', 'a file is a file');
});

t.test('what a recreate would lose is charged to who asks', async (t) => {
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
