import { statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { recordingFilesIn } from '../../src/adapters/filesystem/recording-files.ts';
import { memoryRecordingFiles } from '../../src/adapters/memory/terminals/recording-files.ts';
import { recordingFilesContract } from '../contract/terminals/recordings.ts';

const folder = path.join(t.testdir(), 'recordings');
const files = recordingFilesIn(folder);

t.test('before anything is recorded there is no folder, and no fault', async (t) => {
  t.same(await files.untouched(0), []);
});

await recordingFilesContract('memory', memoryRecordingFiles());
await recordingFilesContract('files', files);

t.test('nobody else can read them, and no other name is a recording', async (t) => {
  const id = '11111111-1111-4111-8111-111111111111';
  await (await files.create(id)).close();
  t.equal(statSync(folder).mode & 0o777, 0o700);
  t.equal(statSync(path.join(folder, `${id}.cast`)).mode & 0o777, 0o600);
  await t.rejects(files.create(id), { code: 'EEXIST' }, 'and none is overwritten');
  for (const bad of ['../secret', '', 'a/b', `${id}.cast`]) {
    await t.rejects(async () => await files.read(bad, 1), /not the id/, bad);
  }
  await writeFile(path.join(folder, 'notes.txt'), 'x');
  t.same(await files.untouched(-60_000), [id]);
});
