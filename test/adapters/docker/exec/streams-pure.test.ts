import { once } from 'node:events';
import { Duplex, Readable } from 'node:stream';
import t from 'tap';
import { Header } from 'tar/header';
import { Pax } from 'tar/pax';
import type { EntryTypeName } from 'tar/types';
import { drainAfterExit } from '../../../../src/adapters/docker/exec/exec-tail.ts';
import { unframed } from '../../../../src/adapters/docker/exec/raw-stream.ts';
import { type Frame, frames } from '../../../../src/adapters/docker/exec/stream-demux.ts';
import { listed } from '../../../../src/adapters/docker/insight/layer-changes.ts';
import { onlyFilesAndFolders } from '../../../../src/adapters/scripts/files/archive-filter.ts';
import { exactly } from '../../../../src/adapters/scripts/files/container-files.ts';
import { listing } from '../../../../src/adapters/scripts/files/folder-listing.ts';
import { debianPackagesOf } from '../../../../src/adapters/scripts/insight/debian-packages.ts';
import { FILE_LIMITS } from '../../../../src/domain/containers/files.ts';
import { untar } from '../../../support/engine/container.ts';
import { frame } from '../../../support/engine/printing-engine.ts';
import { waitFor } from '../../../support/patience.ts';

/** The bytes in pieces of that size, as a connection might cut them. */
const pieces = (bytes: Buffer, size: number): AsyncIterable<Buffer> =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    ),
  );

const upTo = (listed: number) => ({ ...FILE_LIMITS, listed });

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

t.test('multiplexed frames are split wherever they are cut', async (t) => {
  const bytes = Buffer.concat([
    frame(1, 'out'),
    frame(2, 'err'),
    frame(1, ''),
    frame(1, 'grüße'),
    frame(2, 'x'),
  ]);
  for (const size of [1, 2, 3, 7, 8, 9, 11, 100]) {
    const joined: Frame[] = [];
    for (const { stream, data } of await all(frames(pieces(bytes, size)))) {
      const last = joined.at(-1);
      if (last?.stream === stream) joined.splice(-1, 1, { stream, data: Buffer.concat([last.data, data]) });
      else joined.push({ stream, data });
    }
    t.same(
      joined.map(({ stream, data }) => `${stream} ${data}`),
      ['stdout out', 'stderr err', 'stdout grüße', 'stderr x'],
      `pieces of ${size}`,
    );
  }
});

t.test('a listing is read wherever it is cut, whatever the names', async (t) => {
  const names = ['b', 'a\nb', '81a4', ' ', '.', 'ü'];
  const output = Buffer.concat([
    ...names.map((name) => Buffer.from(`81a4/5/100/./${name}/\n`)),
    Buffer.from('41ed/4096/200/./folder/\na1ff/3/300/./link/\n11a4/0/400/./pipe/\nend/\n'),
  ]);
  for (const size of [1, 5, 17, 1000]) {
    const { entries, complete } = await listing(pieces(output, size), upTo(100));
    t.ok(complete);
    t.same(
      entries.map(({ name }) => name),
      [...names, 'folder', 'link', 'pipe'].sort(),
    );
    t.match(
      entries.find(({ name }) => name === 'folder'),
      { kind: 'folder', mode: 0o755 },
    );
    t.match(
      entries.find(({ name }) => name === 'link'),
      { kind: 'link' },
    );
    t.match(
      entries.find(({ name }) => name === 'pipe'),
      { kind: 'other', modifiedAt: new Date(400_000) },
    );
  }
  t.match(
    await listing(pieces(output, 9), upTo(2)),
    { complete: false, entries: [{}, {}] },
    'above the limit',
  );
  const bad = Buffer.concat([
    Buffer.from('81a4/1/1/./'),
    Buffer.from([0xff]),
    Buffer.from('/\n81a4/1/1/./ok/\nend/\n'),
  ]);
  t.match(
    await listing(pieces(bad, 4), upTo(9)),
    { complete: false, entries: [{ name: 'ok' }] },
    'not UTF-8',
  );
  t.match(await listing(pieces(Buffer.from('x/y/z/./name/\nend/\n'), 4), upTo(9)), {
    complete: false,
    entries: [],
  });
  t.same(await listing(pieces(Buffer.from('end/\n'), 4), upTo(9)), { complete: true, entries: [] });
  for (const cutOff of ['', '81a4/1/1/./end/\n', '81a4/1/1/./a/\n81a4/1/1/./b'])
    await t.rejects(listing(pieces(Buffer.from(cutOff), 4), upTo(9)), /too early/, cutOff);
  for (const [mtime, year] of [
    ['9007199254000000', '9999'],
    ['-9007199254000000', '0001'],
  ] as const) {
    const { entries } = await listing(pieces(Buffer.from(`81a4/1/${mtime}/./name/\nend/\n`), 4), upTo(9));
    t.match(entries[0]?.modifiedAt.toISOString(), new RegExp(`^${year}-`), 'a time that no calendar has');
  }
  const negative = Buffer.from('81a4/-5/1/./name/\nend/\n');
  t.match(await listing(pieces(negative, 4), upTo(9)), { complete: false, entries: [] });
});

type Made = {
  readonly path: string;
  readonly type?: EntryTypeName;
  readonly content?: string;
  readonly mode?: number;
  readonly size?: number;
};

function entry({ path, type = 'File', content = '', mode = 0o644, size }: Made): Buffer {
  const header = new Header({
    path,
    type,
    mode,
    size: size ?? content.length,
    mtime: new Date(0),
    linkpath: '',
  });
  const long = header.encode() ? [new Pax({ path }).encode()] : [];
  const padded = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  padded.write(content);
  return Buffer.concat([...long, header.block ?? Buffer.alloc(512), padded]);
}

const END = Buffer.alloc(1024);
const LIMITS = { depth: 4, archived: 20, archiveBytes: 10_000 };

const filtered = async (...entries: readonly Buffer[]) => {
  const archive = Buffer.concat([...entries, END]);
  return untar(Buffer.concat(await all(onlyFilesAndFolders(pieces(archive, 1000), 'top', LIMITS))));
};

t.test('an archive passes only files and folders, below one name', async (t) => {
  const passed = await filtered(
    entry({ path: './', type: 'Directory', mode: 0o1777 }),
    entry({ path: './a', content: 'one', mode: 0o6755 }),
    entry({ path: './link', type: 'SymbolicLink' }),
    entry({ path: './disk', type: 'BlockDevice' }),
    entry({ path: './tty', type: 'CharacterDevice' }),
    entry({ path: './pipe', type: 'FIFO' }),
    entry({ path: '../climbs', content: 'x' }),
    entry({ path: './a/../../climbs', content: 'x' }),
    entry({ path: '/absolute', content: 'two' }),
    entry({ path: './1/2/3/4', content: 'deep' }),
    entry({ path: './1/2/3/4/5', content: 'too deep' }),
    entry({ path: `./${'long'.repeat(60)}`, content: 'long' }),
    entry({ path: './last', content: 'z'.repeat(600) }),
  );
  t.same(
    passed.map(({ path, mode, content }) => [path, mode.toString(8), String(content).slice(0, 5)]),
    [
      ['top/', '777', ''],
      ['top/a', '755', 'one'],
      ['top/absolute', '644', 'two'],
      ['top/1/2/3/4', '644', 'deep'],
      [`top/${'long'.repeat(60)}`, '644', 'long'],
      ['top/last', '644', 'zzzzz'],
    ],
  );
});

t.test('a name without content gets it from a later archive, and no other name does', async (t) => {
  const passed = await filtered(
    entry({ path: './a', content: 'one' }),
    entry({ path: './d/b', type: 'Link' }),
    entry({ path: './c', type: 'Link' }),
    END,
    entry({ path: './a', content: 'one' }),
    END,
    entry({ path: './c', type: 'SymbolicLink' }),
    END,
    entry({ path: './e', content: 'new' }),
    END,
    entry({ path: './d/b', content: 'one' }),
  );
  t.same(
    passed.map(({ path, content }) => [path, String(content)]),
    [
      ['top/a', 'one'],
      ['top/d/b', 'one'],
    ],
  );
  await t.rejects(filtered(entry({ path: './a', type: 'Link' })), /too early/, 'never without a word');
  const endless = entry({ path: './a', type: 'Link' });
  await t.rejects(filtered(endless, ...Array.from({ length: 20 }, () => END)), /too large/);
});

t.test('a broken, endless or oversized archive is an error', async (t) => {
  const many = Array.from({ length: 21 }, (_, index) => entry({ path: `${index}` }));
  await t.rejects(filtered(...many), /too large/);
  await t.rejects(filtered(entry({ path: 'a', size: 10_001 })), /too large/, 'as announced');
  await t.rejects(filtered(entry({ path: 'a', size: 9_000 })), /too early/, 'less than announced');
  await t.rejects(filtered(Buffer.alloc(512, 'x')), /broken/);
  const name = entry({ path: './a', type: 'NextFileHasLongPath', size: 9_000 });
  await t.rejects(filtered(name), /too early/);
  const huge = entry({ path: './a', type: 'ExtendedHeader', size: 2 ** 40 });
  await t.rejects(filtered(huge), /too large/);
  await t.rejects(all(onlyFilesAndFolders(pieces(Buffer.from('short'), 2), 'top', LIMITS)), /too early/);
});

t.test('a truncated list of changes keeps its complete entries', async (t) => {
  const text = JSON.stringify([
    { Path: '/a', Kind: 0 },
    { Path: '/},{"Path":', Kind: 1 },
    { Path: '/c', Kind: 2 },
  ]);
  const paths = async (from: string, size: number, most = 9) => {
    const { paths: found, complete } = await listed(pieces(Buffer.from(from), size), most);
    return [found.map(({ path, kind }) => [path, kind]), complete];
  };
  const full = [
    ['/a', 'changed'],
    ['/},{"Path":', 'added'],
    ['/c', 'removed'],
  ];
  for (let size = 1; size <= text.length; size++) {
    t.same(await paths(text, size), [full, true], `in pieces of ${size} characters`);
    t.same(await paths(`${text}\n`, size, 3), [full, true]);
    t.same(await paths(text, size, 2), [full.slice(0, 2), false], 'no more than so many');
  }
  for (let end = 1; end < text.length; end++) {
    const [some, complete] = await paths(text.slice(0, end), 7);
    t.same(some, full.slice(0, (some as unknown[]).length), `the first ${end} characters`);
    t.notOk(complete);
  }
  t.same(await paths('null\n', 4), [[], true], 'as the engine says nothing');
});

t.test('the package database is read in its three parts', async (t) => {
  const output = [
    '== installed',
    'jq 1.6-2 installed',
    'libjq1 1.6-2 installed',
    'nano 7.2-1 config-files',
    '== automatic',
    'Package: libjq1',
    'Architecture: amd64',
    'Auto-Installed: 1',
    '',
    'Package: jq',
    'Auto-Installed: 0',
    '== files jq',
    '/.',
    '/usr/bin/jq',
    '== files libjq1',
    '/usr/lib/libjq.so.1',
    '== files nano',
    '/etc/nanorc',
    '',
  ].join('\n');
  for (const size of [1, 7, 4096])
    t.same(await debianPackagesOf(pieces(Buffer.from(output), size), 4096), [
      { name: 'jq', version: '1.6-2', automatic: false, files: ['/.', '/usr/bin/jq'] },
      { name: 'libjq1', version: '1.6-2', automatic: true, files: ['/usr/lib/libjq.so.1'] },
    ]);
  t.same(await debianPackagesOf(pieces(Buffer.alloc(0), 1), 4096), []);
  const endless = pieces(Buffer.from(`== installed\njq 1 installed\n${'x'.repeat(100_000)}`), 1000);
  t.match(await debianPackagesOf(endless, 4096), [{ name: 'jq' }], 'what is too long is not read');
});

/** Chunks made on demand, and the number made. */
function numbered(count: number) {
  const made = { count: 0 };
  const source = new Readable({
    highWaterMark: 1,
    read() {
      this.push(made.count < count ? Buffer.from([made.count++]) : null);
    },
  });
  return { source, made };
}

t.test('a slow consumer pauses the program until its end; then the rest is read at once', async (t) => {
  const { source, made } = numbered(40);
  let hasEnded = false;
  const got: number[] = [];
  let checks = 0;
  const check = async (): Promise<boolean> => {
    checks += 1;
    return hasEnded;
  };
  for await (const chunk of drainAfterExit(source, check)) {
    got.push(...chunk);
    if (hasEnded || got.length < 5) continue;
    const before = checks;
    await waitFor(() => checks > before);
    t.ok(made.count < 12, 'nothing is read ahead');
    hasEnded = true;
    await waitFor(() => made.count === 40, { what: 'everything is in before the consumer asks for more' });
  }
  t.same(
    got,
    Array.from({ length: 40 }, (_, n) => n),
    'in order, and once',
  );
  t.ok(source.destroyed);
});

t.test('a file beyond 2 GiB is sent to its last byte', async (t) => {
  const sizeBytes = 2 ** 31 + 12_345;
  const chunk = Buffer.alloc(64 * 1_048_576);
  async function* grows(): AsyncGenerator<Buffer> {
    for (;;) yield chunk;
  }
  let count = 0;
  for await (const part of exactly(grows(), sizeBytes)) count += part.length;
  t.equal(count, sizeBytes);
});

t.test('leaving the output ends the reading', async (t) => {
  const source = new Readable({ read() {} });
  source.push('a');
  for await (const _ of drainAfterExit(source, async () => false)) break;
  t.ok(source.destroyed);
});

t.test('output unread when the engine closes a framed stream is kept', async (t) => {
  let typed = '';
  const source = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      typed += chunk;
      done();
    },
  });
  const plain = unframed(source);
  plain.write('typed');
  plain.read(0);
  source.push(frame(1, Buffer.from('the last words')));
  source.push(null);
  source.once('end', () => source.destroy());
  await once(source, 'close');
  t.equal((await plain.toArray()).join(''), 'the last words');
  t.equal(typed, 'typed', 'input has no frames');
});
