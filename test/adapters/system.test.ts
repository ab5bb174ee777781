import { once } from 'node:events';
import { statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { runCommand, startChild } from '../../src/adapters/child-process.ts';
import { processes } from '../../src/adapters/docker/host/host-commands.ts';
import { DataDirInUseError, lockDataDir } from '../../src/adapters/filesystem/data-dir-lock.ts';
import { recordingFilesIn } from '../../src/adapters/filesystem/recording-files.ts';
import { memoryRecordingFiles } from '../../src/adapters/memory/terminals/recording-files.ts';
import { recordingFilesContract } from '../contract/terminals/recordings.ts';
import { moduleAt, runModule } from '../support/child.ts';
import { aFolder } from '../support/folder.ts';
import { eventually } from '../support/patience.ts';

const MODULE = moduleAt('src/adapters/child-process.ts');

/** A process that runs a program while something is short, then again when it is not. Prints the exit codes. */
const inShortage = (shortage: string, end: string): string => `
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { runCommand } from ${MODULE};
const codes = [];
const attempt = async () => codes.push((await runCommand('true', [])).code);
${shortage}
for (let n = 0; n < 3; n += 1) {
  await attempt();
  await new Promise((resolve) => setImmediate(resolve));
}
${end}
await attempt();
console.log(JSON.stringify(codes));
`;

const NO_DESCRIPTORS = `
spawnSync('prlimit', ['--pid', String(process.pid), '--nofile=64']);
const open = [];
try {
  for (;;) open.push(openSync('/dev/null'));
} catch {}
`;

// Root has no process limit, so the process changes its user.
const NO_PROCESSES = `
process.setgid?.(64_999);
process.setuid?.(64_999);
spawnSync('prlimit', ['--pid', String(process.pid), '--nproc=1:1000']);
`;

t.test('a program that cannot start for lack of descriptors or processes has code 127', async (t) => {
  const descriptors = inShortage(NO_DESCRIPTORS, 'for (const each of open) closeSync(each);');
  t.same(JSON.parse(await runModule(t, descriptors).line()), [127, 127, 127, 0], 'no descriptors');
  const processes = inShortage(NO_PROCESSES, '');
  t.same(JSON.parse(await runModule(t, processes).line()), [127, 127, 127, 127], 'no processes');
  t.match(await runCommand('/nonexistent', []), { code: 127, stderr: /ENOENT/ });
});

t.test('a program whose child keeps its output open is not waited for beyond its limit', async (t) => {
  const script = 'sleep 600 & echo $!; wait';
  const { code, stdout } = await runCommand('sh', ['-c', script], { timeoutSeconds: 0.5 });
  t.equal(code, 137);
  process.kill(Number(stdout));
});

const marked = async (marker: string): Promise<number> =>
  (await processes()).filter(({ argv }) => argv.includes(marker)).length;

const settles = async (marker: string, count: number): Promise<boolean> =>
  (await eventually(
    () => marked(marker),
    (number) => number === count,
    { everyMs: 50 },
  )) === count;

t.test('a signal ends a program with its children, even one that ignores SIGTERM', async (t) => {
  const marker = `family-${process.pid}`;
  const family = `trap '' TERM; sh -c 'trap "" TERM; while :; do sleep 1; done' ${marker} & sh -c 'sleep 60; :' ${marker}; wait`;
  const stopping = new AbortController();
  const ended = runCommand('sh', ['-c', family, marker], { signal: stopping.signal });
  t.ok(await settles(marker, 3));
  stopping.abort();
  t.equal((await ended).code, 137);
  t.ok(await settles(marker, 0));
  await t.rejects(startChild('true', [], { signal: stopping.signal }), { name: 'AbortError' });
});

t.test("the process's end kills its child programs", async (t) => {
  const marker = `orphan-${process.pid}`;
  const code = `
import { startChild } from ${MODULE};
const { signal } = new AbortController();
await startChild('sh', ['-c', 'sleep 60; :', '${marker}'], { signal, stdio: 'ignore' });
process.exit(3);`;
  t.equal(await runModule(t, code).ended, 3);
  t.ok(await settles(marker, 0));
});

const folder = path.join(t.testdir(), 'recordings');
const files = recordingFilesIn(folder);

t.test('a missing recordings folder is no fault', async (t) => {
  t.same(await files.list(), []);
});

await recordingFilesContract('memory', memoryRecordingFiles());
await recordingFilesContract('files', files);

t.test('recordings are readable by the owner alone, and only their names count', async (t) => {
  const id = '11111111-1111-4111-8111-111111111111';
  await (await files.create(id)).close();
  t.equal(statSync(folder).mode & 0o777, 0o700);
  t.equal(statSync(path.join(folder, `${id}.cast`)).mode & 0o777, 0o600);
  await t.rejects(files.create(id), { code: 'EEXIST' }, 'and none is overwritten');
  for (const bad of ['../secret', '', 'a/b', `${id}.cast`]) {
    await t.rejects(async () => await files.read(bad, 1), /not the id/, bad);
  }
  await writeFile(path.join(folder, 'notes.txt'), 'x');
  t.same(
    (await files.list()).map((one) => one.id),
    [id],
  );
});

const lockModule = moduleAt(path.resolve('src/adapters/filesystem/data-dir-lock.ts'));

/** A process that holds the lock of `directory`, with a child. */
const holder = (t: Test, directory: string) =>
  runModule(
    t,
    `import { spawn } from 'node:child_process';
     import { lockDataDir } from ${lockModule};
     lockDataDir(${JSON.stringify(directory)});
     const child = spawn('sleep', ['20'], { detached: true, stdio: 'ignore' });
     console.log(child.pid);
     setInterval(() => {}, 1000);`,
  );

t.test("a folder in use is refused, with its process's number", async (t) => {
  const directory = aFolder(t);
  const other = holder(t, directory);
  const childPid = Number(await other.line());
  t.teardown(() => process.kill(childPid));
  t.throws(() => lockDataDir(directory), new DataDirInUseError(directory, other.process.pid ?? 0));
});

t.test('a killed process frees its folder at once, though its children live on', async (t) => {
  const directory = aFolder(t);
  const other = holder(t, directory);
  const childPid = Number(await other.line());
  t.teardown(() => process.kill(childPid));
  other.process.kill('SIGKILL');
  await once(other.process, 'exit');
  t.ok(process.kill(childPid, 0), 'the child is there');
  lockDataDir(directory).release();
});

t.test('one process cannot lock a folder twice, and can after releasing it', async (t) => {
  const directory = path.join(aFolder(t), 'made', 'here');
  const lock = lockDataDir(directory);
  t.throws(() => lockDataDir(directory), DataDirInUseError);
  lock.release();
  lock.release();
  lockDataDir(directory).release();
});
