import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Test } from 'tap';

/** Puts a script in place of mmdebstrap until the end of `t`; returns its path. */
export async function inPlaceOfMmdebstrap(t: Test, script: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-build-'));
  const path = process.env['PATH'];
  t.teardown(async () => {
    process.env['PATH'] = path;
    await rm(folder, { recursive: true });
  });
  const stub = join(folder, 'mmdebstrap');
  await writeFile(stub, script);
  await chmod(stub, 0o755);
  process.env['PATH'] = `${folder}${delimiter}${path}`;
  return stub;
}
