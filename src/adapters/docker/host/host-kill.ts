import { readdir, writeFile } from 'node:fs/promises';
import { pollUntil } from '../../../concurrency/poll.ts';
import { isRoot, readText, signal } from './host-commands.ts';

const GONE_WITHIN_MS = 10_000;
const CGROUPS = '/sys/fs/cgroup';

/**
 * Kills all processes of a container from outside, without the engine, as the machine's root. Returns whether none is
 * left.
 */
export async function killFromHost(runtimeId: string): Promise<boolean> {
  if (!isRoot()) return false;
  const isGone = async (): Promise<boolean> => {
    const found = await processesOf(runtimeId);
    // A frozen process dies only when thawed.
    for (const path of new Set(found.flatMap(({ groups }) => groups))) await thaw(path);
    for (const { pid } of found) signal(pid, 'SIGKILL');
    return found.length === 0;
  };
  return await pollUntil(isGone, { withinMs: GONE_WITHIN_MS });
}

type InGroups = { readonly pid: number; readonly groups: readonly string[] };

/** Processes in a control group named after the container, in any hierarchy. */
async function processesOf(runtimeId: string): Promise<readonly InGroups[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const groups = foldersOf((await readText(`/proc/${pid}/cgroup`)) ?? '', runtimeId);
      return groups.length === 0 || (await hasEnded(pid)) ? null : { pid, groups };
    }),
  );
  return found.filter((each) => each !== null);
}

/** `id:controllers:path` per hierarchy; version 2 has no controllers. */
export const foldersOf = (text: string, runtimeId: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line.includes(runtimeId))
    .map((line) => line.split(':'))
    .map(([, controllers = '', ...path]) => [CGROUPS, controllers, path.join(':').slice(1)])
    .map((parts) => parts.filter((part) => part !== '').join('/'));

/** A zombie needs no signal. */
const hasEnded = async (pid: number): Promise<boolean> => {
  const stat = await readText(`/proc/${pid}/stat`);
  return stat === null || stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
};

/** without such a file the group cannot freeze */
async function thaw(folder: string): Promise<void> {
  await writeFile(`${folder}/freezer.state`, 'THAWED', { flag: 'r+' }).catch(() => {});
  await writeFile(`${folder}/cgroup.freeze`, '0', { flag: 'r+' }).catch(() => {});
}
