import { writeFile } from 'node:fs/promises';
import { readText } from './host.ts';

/**
 * Every container and every process that is started in one takes a key of their user in the kernel, and all containers of
 * an engine have the same user when it is remapped: by default 200 of both together (keyrings(7)).
 */
const WANTED = { maxkeys: 20_000, maxbytes: 500_000 } as const;

/** Lets the containers of a remapped engine have more than the 200 terminals that the kernel's default leaves them. */
export async function allowSessionKeys(folder = '/proc/sys/kernel/keys'): Promise<void> {
  for (const [name, wanted] of Object.entries(WANTED)) {
    const file = `${folder}/${name}`;
    const now = Number((await readText(file)) ?? wanted);
    // A machine that does not let us has its default; what somebody has set higher stays.
    if (now < wanted) await writeFile(file, `${wanted}\n`).catch(() => {});
  }
}
