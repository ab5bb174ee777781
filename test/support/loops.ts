import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { run } from '../../src/adapters/docker/host.ts';

/** Whether the pages that wait to be written to the loop device of an image have a bound; null where this kernel has none. */
export async function isBound(image: string): Promise<boolean | null> {
  const { stdout } = await run('losetup', ['-n', '-O', 'NAME,MAJ:MIN,DIO', '-j', image]);
  const [, device = '', isDirect] = stdout.trim().split(/\s+/);
  const bound = `/sys/class/bdi/${device}/strict_limit`;
  if (!existsSync(bound)) return null;
  return isDirect === '1' && (await readFile(bound, 'utf8')).trim() === '1';
}
