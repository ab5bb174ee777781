import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { Header } from 'tar/header';
import { memoryAccess, memoryRuntime } from '../../src/adapters/memory/index.ts';
import { Berth } from '../../src/client/index.ts';
import { theCommandOfAda } from '../support/service/command.ts';

async function aScene(t: Test, ports: Parameters<typeof theCommandOfAda>[1] = {}) {
  const { run, spawned, home, server, token } = await theCommandOfAda(t, ports);
  const box = await new Berth({ server, token }).create({ name: 'dev' });
  const at = (name: string): string => path.join(home, name);
  /** `./` is the home, as in `spawned`. */
  const inHome = (args: readonly string[], input?: string) =>
    run(
      args.map((arg) => (arg.startsWith('./') ? at(arg) : arg)),
      input,
    );
  return { run: inHome, spawned, box, at };
}

const CONTENT: Readonly<Record<string, Buffer>> = {
  empty: Buffer.alloc(0),
  'a/b/large.bin': Buffer.from(Array.from({ length: 3 * 1_048_576 }, (_, at) => (at * 31 + (at >> 8)) % 256)),
  'a/ü 日本.txt': Buffer.from('unicode\n'),
  'a:b': Buffer.from('colon\n'),
};

function aFolderAt(root: string): void {
  for (const [name, content] of Object.entries(CONTENT)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
  }
}

const digest = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** The files below a folder, by name, as digests. */
function digests(root: string): Record<string, string> {
  const files = readdirSync(root, { withFileTypes: true, recursive: true }).filter((each) => each.isFile());
  const names = files.map(({ parentPath, name }) => path.join(parentPath, name));
  return Object.fromEntries(
    names.map((name) => [path.relative(root, name), digest(readFileSync(name))] as const),
  );
}

t.test('a folder is the same after both ways, and goes into one that exists', async (t) => {
  const { run, at } = await aScene(t);
  aFolderAt(at('dir'));
  symlinkSync('/etc/passwd', at('dir/link'));
  const up = await run(['cp', './dir', 'dev:path']);
  t.match(up, {
    code: 0,
    stdout: '',
    stderr: /Left out: link is a symbolic link[\s\S]*Copied 4 files, 3 MB/,
  });
  t.match(await run(['cp', 'dev:path', './back']), { code: 0, stdout: '', stderr: /Copied 4 files/ });
  const wanted = Object.fromEntries(Object.entries(CONTENT).map(([name, one]) => [name, digest(one)]));
  t.same(digests(at('back')), wanted);
  t.match(await run(['cp', './dir', 'dev:path']), { code: 0 });
  t.match(await run(['cp', 'dev:path/dir', './back']), { code: 0 });
  t.same(digests(at('back/dir')), wanted);
});

t.test('one file: by a name with a colon, and by standard input and output', async (t) => {
  const { run, spawned, box, at } = await aScene(t);
  writeFileSync(at('a:b'), 'colon\n');
  t.match(await run(['cp', './a:b', 'dev:']), { code: 0 });
  t.equal(await box.files.read('a:b'), 'colon\n');
  t.match(await run(['cp', '-', 'dev:in.txt'], 'piped\n'), { code: 0 });
  t.match(await run(['cp', 'dev:in.txt', '-']), { code: 0, stdout: 'piped\n', stderr: '' });
  t.match(await run(['cp', 'dev:in.txt', './c:d']), { code: 0 });
  t.equal(readFileSync(at('c:d'), 'utf8'), 'piped\n');
  symlinkSync('c:d', at('link'));
  t.match(await run(['cp', 'dev:a:b', './link']), { code: 0 });
  t.ok(lstatSync(at('link')).isSymbolicLink(), 'a link stays one');
  t.equal(readFileSync(at('c:d'), 'utf8'), 'colon\n');
  t.match(await spawned(['-o', 'json', 'cp', 'dev:in.txt', '.']), { stdout: /"files":1,"size_bytes":6/ });
  t.equal(readFileSync(at('in.txt'), 'utf8'), 'piped\n');
});

t.test('what cannot be copied changes nothing', async (t) => {
  const { run, at } = await aScene(t);
  mkdirSync(at('dir'));
  symlinkSync('dir', at('link'));
  const cases = [
    [['cp', './dir', './other'], { code: 2, stderr: /One of the two is in a container/ }],
    [['cp', 'dev:a', 'dev:b'], { code: 2 }],
    [['cp', ':a', './b'], { code: 2, stderr: /Name the container/ }],
    [['cp', 'dev:', '-'], { code: 2, stderr: /The workspace is a folder/ }],
    [['cp', '-', 'dev:'], { code: 2, stderr: /Name the file/ }],
    [['cp', './missing', 'dev:a'], { code: 1, stderr: /There is no .*missing/ }],
    [['cp', './link', 'dev:a'], { code: 1, stderr: /symbolic link/ }],
    [['cp', 'dev:missing', './here'], { code: 1, stderr: /not found/ }],
    [['cp', 'dve:a', './here'], { code: 1, stderr: /Did you mean dev/ }],
  ] as const;
  for (const [args, wanted] of cases) t.match(await run(args), wanted, args.join(' '));
  t.notOk(existsSync(at('here')));
});

t.test('entries of an archive that leave the target are refused', async (t) => {
  const runtime = memoryRuntime();
  const { files } = memoryAccess(runtime);
  const entry = (name: string, type: 'File' | 'SymbolicLink' = 'File') => {
    const header = new Header({
      path: name,
      type,
      size: 0,
      mode: 0o6755,
      ...(type === 'SymbolicLink' && { linkpath: '/etc' }),
    });
    header.encode();
    return header.block ?? Buffer.alloc(0);
  };
  const blocks = [
    entry('dir/good'),
    entry('../x'),
    entry('dir/../../y'),
    entry('/z'),
    entry('dir/l', 'SymbolicLink'),
    entry('dir/l/w'),
    Buffer.alloc(1024),
  ];
  const open = async () =>
    ({
      ok: true,
      value: { kind: 'archive', content: Readable.from(blocks, { objectMode: false }) },
    }) as const;
  const { run, at } = await aScene(t, { runtime, files: { ...files, open } });
  mkdirSync(at('in'));
  t.match(await run(['cp', 'dev:dir', './in/target']), {
    code: 1,
    stderr: /\.\.\/x, dir\/\.\.\/\.\.\/y, \/z, dir\/l/,
  });
  t.same(readdirSync(at('in')), ['target']);
  t.same(Object.keys(digests(at('in/target'))).sort(), ['good', path.join('l', 'w')]);
});

t.test('--no-replace replaces nothing, either way', async (t) => {
  const { run, box, at } = await aScene(t);
  mkdirSync(at('dir'));
  for (const name of ['dir/one', 'two']) writeFileSync(at(name), 'here');
  for (const name of ['dir/one', 'two', 'dir/new']) await box.files.write(name, 'there');
  const taken = { code: 1, stderr: /in the way|Not replaced/ };
  t.match(await run(['cp', '-n', './two', 'dev:two']), taken);
  t.match(await run(['cp', '--no-replace', './dir', 'dev:']), taken);
  t.match(await run(['cp', '-n', '-', 'dev:two'], 'typed'), taken);
  t.match(await run(['cp', '-n', 'dev:two', './two']), taken);
  t.match(await run(['cp', '-n', 'dev:dir/.', './dir']), taken);
  for (const name of ['dir/one', 'two']) {
    t.equal(readFileSync(at(name), 'utf8'), 'here', name);
    t.equal(await box.files.read(name), 'there', name);
  }
  t.equal(readFileSync(at('dir/new'), 'utf8'), 'there', 'what is new is copied');
  t.match(await run(['cp', '-n', './two', 'dev:three']), { code: 0 });
  t.match(await run(['cp', '-n', 'dev:three', './three']), { code: 0 });
});
