import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import type {
  CommandRequest,
  RunningCommand,
} from '../../../../src/ports/containers/inside/container-commands.ts';
import type { Opened } from '../../../../src/ports/containers/inside/container-files.ts';
import { containerAccessContract } from '../../../contract/containers/inside/container-access.ts';
import { collect } from '../../../contract/containers/inside/container-commands.ts';
import { aBox, type Box, links, special, uploads } from '../../../contract/containers/inside/files.ts';
import { aSpec, markedProcesses } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { eventually, standsStill } from '../../../support/patience.ts';
import { needs } from '../../../support/run/infra.ts';

/** Alternates a file and a link out of the workspace, as fast as possible. */
const SWAP = `chdir "/workspace/swapped"; for (;;) {
  symlink "/tmp/outer", "next"; rename "next", "name"; link "inner", "next"; rename "next", "name" }`;

/** A child, one in a session of its own, and a grandchild. */
const TREE = 'sleep 471 & (setsid sleep 472) & sh -c "sleep 473; :" & echo begun; wait';

type CommandBox = {
  readonly sh: (script: string) => Promise<string>;
  readonly open: (script: string, more?: Partial<CommandRequest>) => Promise<RunningCommand>;
};

/** Little, since a tool that never ends fills it. */
const HOSTILE_MEMORY_MB = 64;

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  const { commands, image } = instance;
  await containerAccessContract('docker', instance);
  const box = await aBox(instance);
  await t.test('docker: links are not followed out of the workspace', (t) => links(t, box));
  await t.test('docker: an entry that is neither file nor folder is refused', (t) => special(t, box));
  await t.test('docker: files that change while being read fail', (t) => changing(t, box));
  await t.test('docker: a name swapped during its opening is not followed', (t) => swapped(t, box));
  await t.test('docker: archives', (t) => archives(t, box));
  await t.test('docker: uploads', (t) => uploads(t, box));
  await t.test('docker: sizes beyond 2 GiB', (t) => huge(t, box));
  await t.test('docker: a full disk', (t) => fullDisk(t, instance));
  const busybox = await needs(t, 'busybox');
  if (busybox !== null) {
    const bare = await aBox(instance, aSpec(busybox.bare));
    await t.test('docker: archives with BusyBox', (t) => linkedFiles(t, bare));
  }
  const { handle, sh } = box;
  const open: CommandBox['open'] = (script, more = {}) =>
    commands.open(handle, { command: ['sh', '-c', script], timeoutSeconds: 60, ...more });
  await t.test('output arrives in order while the command runs', (t) => order(t, { sh, open }));
  await t.test('an unread stream pauses the command', (t) => backPressure(t, { sh, open }));
  await t.test("a command's end kills everything that it started", (t) => ending(t, { sh, open }));
  await t.test('a slow reader gets all output without delaying others', (t) => slowReader(t, { sh, open }));
  const resources = { memoryMb: HOSTILE_MEMORY_MB, cpuMillicores: 2000, diskMb: 512 };
  const theirs = await aBox(instance, aSpec(image, { resources }));
  await t.test('docker: lying tools cannot exceed limits or forge answers', (t) => hostile(t, theirs));
}

async function linkedFiles(t: Test, { sh, files }: Box): Promise<void> {
  await sh(`mkdir -p '/workspace/linked/a b' && cd /workspace/linked && echo same > one && ln one 'a b/-two'
    ln one three && echo other > four && ln four "$(printf 'fi\nve')" && ln -s one six && ln six seven && echo alone > eight`);
  const entries = await files.tar(['linked']);
  t.same(
    entries.flatMap(({ path, content }) => (path.endsWith('/') ? [] : [`${path}: ${content}`])).toSorted(),
    [
      'linked/a b/-two: same\n',
      'linked/eight: alone\n',
      'linked/fi\nve: other\n',
      'linked/four: other\n',
      'linked/one: same\n',
      'linked/three: same\n',
    ],
  );
}

async function changing(t: Test, { sh, files }: Box): Promise<void> {
  await sh('cd /workspace && head -c 8000000 /dev/zero > grows && cp grows shrinks');
  const grows = await file(files.open(['grows'], 'archive'));
  await sh('head -c 8000000 /dev/zero >> /workspace/grows');
  t.equal(await count(grows.content), 8_000_000, 'what comes later is left out');
  const shrinks = await file(files.open(['shrinks'], 'archive'));
  await sh('head -c 10 /dev/zero > /workspace/shrinks');
  await t.rejects(count(shrinks.content), /too early/, 'half a file is a fault');
  const stopped = await file(files.open(['grows'], 'archive'));
  stopped.content.destroy();
  const left = () => markedProcesses(sh);
  t.equal(
    await eventually(left, (count) => count === 0, { everyMs: 100 }),
    0,
    'no program is left, whoever ended it',
  );
}

async function swapped(t: Test, { sh, files }: Box): Promise<void> {
  await sh(`mkdir /workspace/swapped && cd /workspace/swapped && echo inner > inner && ln inner name &&
    echo outer > /tmp/outer && { perl -e '${SWAP}' > /dev/null 2>&1 & echo $! > /tmp/swapping; }`);
  const seen = new Set<string>();
  for (let reads = 0; reads < 400 && !seen.has('file_outside'); reads += 1)
    seen.add(await files.read(['swapped', 'name']).then(String, ({ message }) => message));
  await sh('kill "$(cat /tmp/swapping)"');
  const allowed = ['file_outside', 'file_special', 'inner\n'];
  t.same(
    [...seen].filter((outcome) => !allowed.includes(outcome)),
    [],
  );
  t.ok(seen.has('file_outside'), 'what was opened is looked at again');
}

type OpenedFile = Extract<Opened, { kind: 'file' }>;

async function file(opening: Promise<Opened>): Promise<OpenedFile> {
  const opened = await opening;
  if (opened.kind !== 'file') throw new Error(`it is a ${opened.kind}`);
  return opened;
}

async function count(content: Readable): Promise<number> {
  let bytes = 0;
  for await (const chunk of content) bytes += chunk.length;
  return bytes;
}

async function archives(t: Test, { sh, files }: Box): Promise<void> {
  await sh(`mkdir -p /workspace/mixed && cd /workspace/mixed && echo same > one && ln one two && ln -s one three &&
    cp /bin/true tool && chmod 6755 tool && head -c 700000 /dev/urandom > big`);
  await sh(
    `cd /workspace/mixed && i=0; while [ $i -lt 80 ]; do mkdir d && cd d && i=$((i+1)); done; echo x > deepest`,
  );
  const entries = await files.tar(['mixed']);
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  t.equal(String(byPath.get('mixed/one')?.content), 'same\n');
  t.equal(String(byPath.get('mixed/two')?.content), 'same\n', 'a hard link is a file like others');
  t.notOk(byPath.has('mixed/three'), 'links are left out');
  t.equal(byPath.get('mixed/tool')?.mode, 0o755, 'without the bits that lend rights');
  t.equal(byPath.get('mixed/big')?.content.length, 700_000);
  const depths = entries.map(({ path }) => path.split('/').filter(Boolean).length);
  t.equal(Math.max(...depths), 65, 'folders below the limit are left out');
  await sh('mkdir /workspace/empty');
  t.same(
    (await files.tar(['empty'])).map(({ path }) => path),
    ['empty/'],
  );
}

async function huge(t: Test, { sh, files }: Box): Promise<void> {
  const bytes = 2 ** 31 + 12_345;
  await sh(`truncate -s ${bytes} /workspace/huge`);
  const { sizeBytes, content } = await file(files.open(['huge'], 'archive'));
  t.equal(sizeBytes, bytes);
  content.destroy();
  const listed = await files.open([], 'listing');
  const entries = listed.kind === 'listing' ? listed.entries : [];
  t.match(
    entries.find(({ name }) => name === 'huge'),
    { sizeBytes: bytes },
  );
  await files.remove(['huge']);
}

async function fullDisk(t: Test, instance: TestInstance): Promise<void> {
  const { docker, instanceId, image } = instance;
  const dbId = randomUUID();
  const DriverOpts = { type: 'tmpfs', device: 'tmpfs', o: 'size=4m' };
  const Labels = { 'berth.instance': instanceId, 'berth.db_id': dbId };
  await docker.createVolume({ Name: `ws-${dbId}`, DriverOpts, Labels });
  const { files, sh } = await aBox(instance, aSpec(image, { dbId }));
  await files.write(['a'], Buffer.alloc(1_000_000));
  await t.rejects(files.write(['a'], Buffer.alloc(6_000_000)), { message: 'disk_full' });
  await t.rejects(files.write(['b'], Readable.from(endless())), { message: 'disk_full' });
  t.equal((await files.read(['a'])).length, 1_000_000, 'the old file is there');
  t.same(
    (await files.names([])).filter((name) => name.startsWith('.berth')),
    [],
    'and nothing else',
  );
  t.equal(await markedProcesses(sh), 0);
}

async function* endless(): AsyncGenerator<Buffer> {
  for (;;) yield Buffer.alloc(65_536);
}

/** Users can replace the tools in their containers. A false tool must neither hang nor deceive the service. */
async function hostile(t: Test, { files, sh }: Box): Promise<void> {
  await sh('echo secret > /workspace/file; mkdir /workspace/folder');
  const fake = (tool: string, body: string): Promise<string> =>
    sh(`printf '%s\\n' '#!/bin/sh' '${body}' > /usr/local/sbin/${tool}; chmod +x /usr/local/sbin/${tool}`);
  await fake('cat', 'exec yes');
  t.equal((await files.read(['file'])).length, 7, 'no more than was announced');
  await fake('stat', 'echo 9999999999999999999 -1');
  await t.rejects(files.read(['file']), { name: 'RuntimeFailure' });
  await fake('stat', 'echo 7 9007199254740000');
  const late = await files.open(['file'], 'archive');
  if (late.kind !== 'file') throw new Error('no file');
  late.content.destroy();
  t.match(late.modifiedAt.toISOString(), /^9999-/, 'a date that can be said');
  await fake('stat', 'echo -5 1');
  await t.rejects(files.read(['file']), { name: 'RuntimeFailure' });
  await fake('stat', 'exec yes');
  await t.rejects(files.read(['file']), { name: 'RuntimeFailure' });
  await fake('tar', '[ "$1" = --version ] || exec yes');
  await t.rejects(files.tar(['folder']), { name: 'RuntimeFailure' });
  await fake('tar', '[ "$1" = --version ] || exec head -c 1000000000 /dev/zero');
  const zeros = await files.open(['folder'], 'archive');
  t.equal(zeros.kind === 'archive' && (await count(zeros.content)), 1024, 'an archive of nothing');
  await fake('find', 'exec yes 81a4/1/1/./name/');
  t.match(await files.open(['folder'], 'listing'), { complete: false });
  await fake('find', 'exec yes');
  await t.rejects(files.open(['folder'], 'listing'), { name: 'RuntimeFailure' });
  await fake('dd', 'echo received 5; exit 0');
  await t.rejects(files.write(['other'], 'four'), { name: 'RuntimeFailure' });
  t.equal(await markedProcesses(sh), 0);
}

async function order(t: Test, { sh, open }: CommandBox): Promise<void> {
  const wait = 'n=$((n+1)); until [ -e /tmp/seen-$n ]; do sleep 0.05; done';
  const running = await open(`echo one; ${wait}; echo two >&2; ${wait}; echo three; ${wait}; exit 3`);
  const seen: string[] = [];
  for await (const event of running.events) {
    seen.push(event.kind === 'exit' ? `exit ${event.exitCode}` : `${event.stream} ${event.data}`);
    // Continues when its output has arrived.
    if (event.kind === 'output') await sh(`touch /tmp/seen-${seen.length}`);
  }
  t.same(seen, ['stdout one\n', 'stderr two\n', 'stdout three\n', 'exit 3']);
  t.match(
    await collect(await open('printf "OCI runtime exec failed: no, only a joke\\n"; exit 126')),
    { stderr: 'sh: not found\n', exitCode: 127 },
    'whoever speaks exactly like the engine is taken for it',
  );
  // The rest must arrive apart from the text that looks like the engine's.
  t.match(await collect(await open('echo OCI runtime exec failed; sleep 0.3; echo more; exit 126')), {
    stdout: 'OCI runtime exec failed\nmore\n',
  });
}

async function backPressure(t: Test, { sh, open }: CommandBox): Promise<void> {
  const running = await open(
    'i=0; while :; do head -c 65536 /dev/zero; i=$((i+1)); echo $i > /tmp/count; done',
  );
  const events = running.events[Symbol.asyncIterator]();
  await events.next();
  const written = await standsStill(async () => Number(await sh('cat /tmp/count')));
  t.ok(written * 65_536 < 4 * 1024 * 1024, 'it waits after a few buffers');
  await running.end();
  t.equal(await markedProcesses(sh), 0);
}

async function ending(t: Test, { sh, open }: CommandBox): Promise<void> {
  const left = (): Promise<string> => sh('pgrep -fc "sleep 47[0-9]" || true');
  const running = await open(TREE);
  const events = running.events[Symbol.asyncIterator]();
  t.match(await events.next(), { value: { kind: 'output' } });
  t.ok(Number(await left()) > 3);
  await running.end();
  t.equal(await left(), '0');
  const limited = await collect(await open(TREE, { timeoutSeconds: 3 }));
  t.match(limited, { stdout: 'begun\n', exitCode: null });
  t.equal(await left(), '0');
}

/**
 * The engine forgets what is not read within 2 s of a program's end, and reports the ends in a container one after the
 * other: when a later one is reported, it has waited for each that came before.
 */
async function slowReader(t: Test, { sh, open }: CommandBox): Promise<void> {
  const mayRead = Promise.withResolvers<void>();
  const begun = Array.from({ length: 16 }, () => Promise.withResolvers<void>());
  const read = async (bytes: number, at: number): Promise<number> => {
    const running = await open(`exec head -c ${bytes} /dev/zero`);
    let count = 0;
    for await (const event of running.events) {
      if (event.kind === 'output' && count === 0) {
        begun[at]?.resolve();
        await mayRead.promise;
      }
      if (event.kind === 'output') count += event.data.length;
    }
    return count;
  };
  // The limit of the engine's and kernel's buffers is in this range.
  const sizes = Array.from({ length: 16 }, (_, index) => 900_000 + index * 40_000);
  const reading = Promise.all(sizes.map(read));
  await Promise.all(begun.map(({ promise }) => promise));
  await standsStill(async () => Number(await sh('pgrep -xc head || true')));
  t.match(
    await collect(await open('true')),
    { exitCode: 0 },
    'another command ends while none of them is read',
  );
  mayRead.resolve();
  t.same(await reading, sizes);
}
