import { once } from 'node:events';
import path from 'node:path';
import t, { type Test } from 'tap';
import { DataDirInUseError, lockDataDir } from '../../../src/adapters/filesystem/data-dir-lock.ts';
import { moduleAt, runModule } from '../../support/child.ts';
import { aFolder } from '../../support/folder.ts';

const lockModule = moduleAt(path.resolve('src/adapters/filesystem/data-dir-lock.ts'));

/** A process that holds the lock of `directory`, with a child of its own. */
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

t.test('a folder in use is refused, with the number of the process that has it', async (t) => {
  const directory = aFolder(t);
  const other = holder(t, directory);
  const childPid = Number(await other.line());
  t.teardown(() => process.kill(childPid));
  t.throws(() => lockDataDir(directory), new DataDirInUseError(directory, other.process.pid ?? 0));
});

t.test('a killed process gives the folder free at once, though its children live on', async (t) => {
  const directory = aFolder(t);
  const other = holder(t, directory);
  const childPid = Number(await other.line());
  t.teardown(() => process.kill(childPid));
  other.process.kill('SIGKILL');
  await once(other.process, 'exit');
  t.ok(process.kill(childPid, 0), 'the child is there');
  lockDataDir(directory).release();
});

t.test('one process cannot take a folder twice, and can after giving it back', async (t) => {
  const directory = path.join(aFolder(t), 'made', 'here');
  const lock = lockDataDir(directory);
  t.throws(() => lockDataDir(directory), DataDirInUseError);
  lock.release();
  lock.release();
  lockDataDir(directory).release();
});
