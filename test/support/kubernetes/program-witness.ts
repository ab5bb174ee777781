import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';

const MEMORY = '/sys/fs/cgroup/memory';
const EVERY_MS = 200;
const CLUSTER = /^berth-kubernetes-/;
const POD = /^pod([0-9a-f-]{36})$/;
/** Of the programs that work with a container's volume; not the sandbox's own. */
const OF_USER = 'HOME=/workspace';

/**
 * Looks which Pods of clusters on this machine have running programs, whatever the clusters say. `faults`: each moment at
 * which two Pods of one container had some. `containerOf`: of a Pod's uid; undefined for one to ignore.
 */
export function watchPrograms(t: Pick<Test, 'teardown'>, containerOf: (uid: string) => string | undefined) {
  const faults: string[] = [];
  const seen = new Set<string>();
  const look = (): void => {
    const running = new Map<string, string>();
    for (const uid of podsWithPrograms()) {
      const container = containerOf(uid);
      if (container === undefined) continue;
      seen.add(uid);
      const other = running.get(container);
      if (other !== undefined) faults.push(`${container} runs in the Pods ${other} and ${uid}`);
      running.set(container, uid);
    }
  };
  const timer = setInterval(look, EVERY_MS);
  t.teardown(() => clearInterval(timer));
  return { faults: () => faults, seen: () => seen.size };
}

function podsWithPrograms(): readonly string[] {
  const top = existsSync(MEMORY) ? MEMORY : '/sys/fs/cgroup';
  const all = foldersIn(top)
    .filter((folder) => CLUSTER.test(path.basename(folder)))
    .flatMap(foldersBelow);
  return all.flatMap((folder) => {
    const uid = POD.exec(path.basename(folder))?.[1];
    return uid !== undefined && foldersBelow(folder).some(hasProgram) ? [uid] : [];
  });
}

function foldersIn(folder: string): readonly string[] {
  return orNothing(() =>
    readdirSync(folder, { withFileTypes: true })
      .filter((each) => each.isDirectory())
      .map(({ name }) => path.join(folder, name)),
  );
}

const foldersBelow = (folder: string): readonly string[] => [
  folder,
  ...foldersIn(folder).flatMap(foldersBelow),
];

const hasProgram = (group: string): boolean =>
  orNothing(() => readFileSync(path.join(group, 'cgroup.procs'), 'utf8').split('\n'))
    .filter((pid) => pid !== '')
    .some((pid) =>
      orNothing(() => readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')).includes(OF_USER),
    );

/** Groups and processes go while they are read. */
function orNothing<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch {
    return [];
  }
}
