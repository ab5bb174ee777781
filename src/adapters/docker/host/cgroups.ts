import { readdir, rmdir } from 'node:fs/promises';
import { cgroupName } from '../engine/engine-names.ts';

/** Removes the group that containers of an installation were in, in each hierarchy. One that is in use or absent is fine. */
export async function removeCgroups(instanceId: string): Promise<void> {
  const name = cgroupName(instanceId);
  const base = '/sys/fs/cgroup';
  const hierarchies = await readdir(base).catch(() => []);
  const folders = [base, ...hierarchies.map((hierarchy) => `${base}/${hierarchy}`)];
  for (const folder of folders) await rmdir(`${folder}/${name}`).catch(() => {});
}
