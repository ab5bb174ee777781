import { parentFolders } from './container-groups.ts';
import { readText } from './host-commands.ts';

/** The file with the count in control groups of version 1, and in those of version 2. */
const FILES = ['memory.oom_control', 'memory.events'];

/**
 * How many programs a container's memory limit has ended since its start, as the kernel counts them; null where this
 * machine does not have the container's control group.
 */
export async function memoryKillsOf(instanceId: string, runtimeId: string): Promise<number | null> {
  for (const folder of parentFolders('memory', instanceId))
    for (const name of [runtimeId, `docker-${runtimeId}.scope`])
      for (const file of FILES) {
        const kills = killsIn((await readText(`${folder}/${name}/${file}`)) ?? '');
        if (kills !== null) return kills;
      }
  return null;
}

/** The count in such a file; null in another, as in those of kernels before 4.13. */
export function killsIn(text: string): number | null {
  const count = /^oom_kill (\d+)$/m.exec(text)?.[1];
  return count === undefined ? null : Number(count);
}
