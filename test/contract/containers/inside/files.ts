import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Test } from 'tap';
import type { FilePath } from '../../../../src/domain/containers/files.ts';
import type { RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import type { ContainerFiles } from '../../../../src/ports/containers/inside/container-files.ts';
import { aSpec, shellIn, untar } from '../../../support/engine/container.ts';
import type { TestInstance } from '../../../support/engine/engine.ts';
import { valuesOf } from '../../../support/values.ts';

export const bytesOf = async (content: Readable): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
};

const LIMIT = 64 * 1024 * 1024;

/** Short forms for one container that throw a refusal's code. */
export function filesOf(files: ContainerFiles, handle: RuntimeHandle) {
  const value = <T>(result: { ok: true; value: T } | { ok: false; error: { code: string } }): T => {
    if (!result.ok) throw new Error(result.error.code);
    return result.value;
  };
  const open = async (path: FilePath, folderAs: 'archive' | 'listing') =>
    value(await files.open(handle, path, folderAs));
  return {
    open,
    write: async (path: FilePath, content: Buffer | string | Readable, maxBytes = LIMIT, mayReplace = true) =>
      value(
        await files.write(
          handle,
          path,
          content instanceof Readable ? content : Readable.from([Buffer.from(content)]),
          maxBytes,
          mayReplace,
        ),
      ),
    remove: async (path: FilePath) => value(await files.remove(handle, path)),
    async read(path: FilePath): Promise<Buffer> {
      const opened = await open(path, 'archive');
      if (opened.kind !== 'file') throw new Error(`it is a ${opened.kind}`);
      const bytes = await bytesOf(opened.content);
      if (bytes.length !== opened.sizeBytes) throw new Error('it does not have the announced size');
      return bytes;
    },
    async names(path: FilePath): Promise<readonly string[]> {
      const opened = await open(path, 'listing');
      if (opened.kind !== 'listing') throw new Error(`it is a ${opened.kind}`);
      return opened.entries.map((entry) => entry.name);
    },
    async tar(path: FilePath) {
      const opened = await open(path, 'archive');
      if (opened.kind !== 'archive') throw new Error(`it is a ${opened.kind}`);
      return untar(await bytesOf(opened.content));
    },
  };
}

const atOnce = <T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<unknown> =>
  Promise.all(items.map(work));

/** Each is a folder in the one before it. */
const AWKWARD = [
  '--help',
  'dou"ble',
  '$(id)',
  '`id`',
  'tab\t',
  '~',
  'ünï — 漢字 🚢',
  'back\\slash',
  'x'.repeat(255),
];
const RISKY = ['with space', 'a\nb', '*', "quo'te", '-rf'];

type Files = ReturnType<typeof filesOf>;

/** Paths that lead to a file, with any tools. */
export async function pathsContract(t: Test, files: Files): Promise<void> {
  await t.test('names may contain any character', async (t) => {
    const paths = [AWKWARD, RISKY].map((names) => ['awkward', ...names]);
    for (const path of paths) {
      await files.write(path, 'deep');
      t.equal(String(await files.read(path)), 'deep');
    }
    const archived = (await files.tar(['awkward'])).filter(({ type }) => type === 'File');
    t.same(archived.map(({ path }) => path).sort(), paths.map((path) => path.join('/')).sort());
    const down = (depth: number) => ['awkward', ...RISKY.slice(0, depth)];
    for (const [at, name] of [...RISKY.entries()].reverse()) {
      const beside = at === 0 ? [AWKWARD[0]] : [];
      t.same(await files.names(down(at)), [...beside, name], 'in a listing');
      await files.remove(down(at + 1));
    }
    t.same(await files.names(['awkward']), [AWKWARD[0]], 'and they alone are removed');
  });

  await t.test('a missing or obstructed path is refused', async (t) => {
    await files.write(['plain'], 'x', LIMIT, false);
    await t.rejects(
      files.write(['plain'], 'y', LIMIT, false),
      { message: 'file_in_the_way' },
      'not replaced',
    );
    const race = [1, 2, 3].map((n) => files.write(['raced'], String(n), LIMIT, false));
    const won = (await Promise.allSettled(race)).filter(({ status }) => status === 'fulfilled');
    t.equal(won.length, 1, 'of many at once one creates it');
    t.equal(String(await files.read(['plain'])), 'x');
    const absent = { message: 'file_not_found' };
    const inTheWay = { message: 'file_in_the_way' };
    await Promise.all([
      t.rejects(files.read(['absent']), absent),
      t.rejects(files.names(['absent']), absent),
      t.rejects(files.read(['plain', 'below']), absent),
      t.rejects(files.remove(['absent']), absent),
      t.rejects(files.remove(['absent', 'below']), absent),
      t.rejects(files.write(['plain', 'below'], 'x'), inTheWay),
      t.rejects(files.write(['awkward'], 'x'), inTheWay),
    ]);
    t.equal(String(await files.read(['plain'])), 'x');
  });
}

/** Guarantees of every file store, for a running container. */
export async function filesContract(t: Test, files: Files): Promise<void> {
  await pathsContract(t, files);

  await t.test('written content is read back byte for byte', async (t) => {
    const sizes = [0, 65_536, 3_000_001];
    await atOnce(sizes, async (size) => {
      const bytes = randomBytes(size);
      t.same(await files.write(['data', `${size}`], bytes), { sizeBytes: size, isNew: true });
      t.ok((await files.read(['data', `${size}`])).equals(bytes), `${size} bytes`);
    });
    t.same(await files.write(['data', '0'], 'other'), { sizeBytes: 5, isNew: false });
    t.equal(String(await files.read(['data', '0'])), 'other');
  });

  await t.test("a folder is listed with each entry's details", async (t) => {
    // File times have whole seconds.
    const begunMs = Math.floor(Date.now() / 1_000) * 1_000;
    await files.write(['list', 'b.txt'], 'four');
    await files.write(['list', 'a', 'deep', 'c'], '');
    const opened = await files.open(['list'], 'listing');
    const entries = opened.kind === 'listing' ? opened.entries : [];
    t.match(opened, {
      kind: 'listing',
      complete: true,
      entries: [
        { name: 'a', kind: 'folder' },
        { name: 'b.txt', kind: 'file', sizeBytes: 4 },
      ],
    });
    // Some volumes give their group to what is made in a folder.
    t.same(
      entries.map(({ mode }) => mode & 0o777),
      [0o755, 0o644],
    );
    const modifiedMs = entries[1]?.modifiedAt.getTime() ?? 0;
    t.ok(modifiedMs >= begunMs && modifiedMs <= Date.now());
    t.ok((await files.names([])).includes('list'), 'the home itself');
  });

  await t.test('a folder is archived completely, below its name', async (t) => {
    await files.write(['tree', 'x', 'y', 'z'], 'deep');
    await files.write(['tree', 'top'], 'top');
    t.same(
      (await files.tar(['tree'])).map(({ path, type, content }) => [path, type, String(content)]).sort(),
      [
        ['tree/', 'Directory', ''],
        ['tree/top', 'File', 'top'],
        ['tree/x/', 'Directory', ''],
        ['tree/x/y/', 'Directory', ''],
        ['tree/x/y/z', 'File', 'deep'],
      ],
    );
    t.ok(
      (await files.tar([])).every(({ path }) => path.startsWith('workspace/')),
      'the home itself',
    );
  });

  await t.test('a folder is removed with its contents', async (t) => {
    await files.write(['gone', 'a', 'b'], 'x');
    await files.remove(['gone']);
    await t.rejects(files.names(['gone']), { message: 'file_not_found' });
  });

  await t.test('an oversized or interrupted upload leaves the old file and nothing else', async (t) => {
    await files.write(['kept', 'file'], 'old');
    const large = Readable.from([Buffer.alloc(600), Buffer.alloc(600)]);
    await t.rejects(files.write(['kept', 'file'], large, 1000), { message: 'file_too_large' });
    t.notOk(large.destroyed, 'what is not taken is left unread');
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        throw new Error('the line broke');
      })(),
    );
    await t.rejects(files.write(['kept', 'file'], broken), { message: 'the line broke' });
    t.equal(String(await files.read(['kept', 'file'])), 'old');
    t.same(await files.names(['kept']), ['file']);
  });

  await t.test('a leaving reader disturbs nobody', async (t) => {
    await files.write(['big'], randomBytes(5_000_000));
    const opened = await files.open(['big'], 'archive');
    if (opened.kind === 'file') {
      for await (const chunk of opened.content) {
        t.ok(chunk.length > 0);
        break;
      }
      t.ok(opened.content.destroyed);
    }
    t.equal((await files.read(['big'])).length, 5_000_000);
  });
}

export type Box = {
  readonly handle: RuntimeHandle;
  readonly sh: (script: string) => Promise<string>;
  readonly files: ReturnType<typeof filesOf>;
};

/** A running container with its files and a shell. */
export async function aBox(
  { runtime, commands, files, image }: TestInstance,
  spec = aSpec(image),
): Promise<Box> {
  const handle = await runtime.create(spec);
  await runtime.start(handle);
  return { handle, sh: shellIn(commands, handle), files: filesOf(files, handle) };
}

/** Links anywhere in a path. */
export async function links(t: Test, { sh, files }: Box): Promise<void> {
  await sh(`cd /workspace && mkdir real && echo inner > real/file && ln -s real near && ln -s /etc far &&
    ln -s real/file link && ln -s /etc/passwd secret && ln -s nowhere dangling && ln -s loop loop && ln -s . here`);
  t.equal(String(await files.read(['near', 'file'])), 'inner\n', 'a folder on the way may be a link');
  t.equal(String(await files.read(['here', 'here', 'real', 'file'])), 'inner\n');
  await Promise.all([
    ...['link', 'loop', 'far'].map((name) =>
      t.rejects(files.read([name]), { message: 'file_special' }, name),
    ),
    ...['secret', 'dangling', 'near'].map((name) =>
      t.rejects(files.write([name], 'x'), { message: 'file_special' }, `${name} is not written through`),
    ),
  ]);
  await Promise.all([
    t.rejects(files.read(['far', 'passwd']), { message: 'file_outside' }),
    t.rejects(files.names(['far', 'ssl']), { message: 'file_outside' }),
    t.rejects(files.write(['far', 'new'], 'x'), { message: 'file_outside' }),
    t.rejects(files.write(['far', 'a', 'b', 'new'], 'x'), { message: 'file_outside' }),
    t.rejects(files.remove(['far', 'passwd']), { message: 'file_outside' }),
    t.rejects(files.read(['loop', 'x']), { message: 'file_not_found' }),
  ]);
  t.equal(
    await sh('ls -d /etc/new /etc/a 2>/dev/null; cat /workspace/real/file'),
    'inner',
    'nothing was made',
  );
  await files.remove(['near']);
  await files.remove(['far']);
  t.equal(await sh('cat /workspace/real/file; test -s /etc/passwd'), 'inner', 'a link is removed alone');
  const listed = await files.open([], 'listing');
  const kinds = listed.kind === 'listing' ? listed.entries.map(({ name, kind }) => `${name} ${kind}`) : [];
  t.ok(kinds.includes('link link') && kinds.includes('real folder'));
}

/** Pipes, and names that are not UTF-8. */
export async function special(t: Test, { sh, files }: Box): Promise<void> {
  await sh(
    'mkdir /workspace/odd && cd /workspace/odd && mkfifo pipe && echo x > plain && echo y > "$(printf "\\377")"',
  );
  // Opening a pipe waits for its other end.
  await t.rejects(files.read(['odd', 'pipe']), { message: 'file_special' });
  await t.rejects(files.write(['odd', 'pipe'], 'x'), { message: 'file_special' });
  t.match(await files.open(['odd'], 'listing'), {
    complete: false,
    entries: [
      { name: 'pipe', kind: 'other' },
      { name: 'plain', kind: 'file' },
    ],
  });
  t.same(valuesOf(await files.tar(['odd']), 'path'), ['odd/', 'odd/plain']);
  await files.remove(['odd', 'pipe']);
}

/** What an upload replaces, and when. */
export async function uploads(t: Test, { sh, files }: Box): Promise<void> {
  const [uid, gid] = (await sh('id -u; id -g')).split('\n');
  // Only root may give a file away.
  const [owner, group] = uid === '0' ? [1000, 1000] : [uid, gid];
  await sh(`mkdir /workspace/up && cd /workspace/up && echo old > tool && chown ${owner}:${group} tool && chmod 4750 tool &&
    touch -d '2020-01-01 00:00:00' .berth-upload-left && touch .berth-upload-fresh`);
  await files.write(['up', 'tool'], 'new');
  const replaced = await sh("stat -c '%a %u:%g' /workspace/up/tool; cat /workspace/up/tool");
  t.equal(replaced, `750 ${owner}:${group}\nnew`);
  t.same(await files.names(['up']), ['.berth-upload-fresh', 'tool'], 'what a crash left is cleared away');
  await files.write(['up', 'fresh'], 'x');
  t.equal(await sh("stat -c '%a %u:%g' /workspace/up/fresh"), `644 ${uid}:${gid}`);
  const rest = Promise.withResolvers<string>();
  const slow = Readable.from(
    (async function* () {
      yield Buffer.from('a');
      yield Buffer.from(await rest.promise);
    })(),
  );
  const writing = files.write(['up', 'slow'], slow);
  await sh("until find /workspace/up -name '.berth-upload-*-*' -size +0 | grep -q .; do sleep 0.05; done");
  await t.rejects(files.read(['up', 'slow']), { message: 'file_not_found' }, 'not there before it is whole');
  rest.resolve('bc');
  await writing;
  t.equal(String(await files.read(['up', 'slow'])), 'abc');
  const many = Array.from({ length: 4 }, (_, index) =>
    files.write(['up', 'same'], String(index).repeat(100_000)),
  );
  await Promise.all(many);
  const last = String(await files.read(['up', 'same']));
  t.equal(last, (last[0] ?? '').repeat(100_000), 'of many at once one wins whole');
}
