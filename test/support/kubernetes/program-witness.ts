import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';

/** Where a containerd of nodes has a group for each container, by either version of control groups. */
const GROUPS = ['/sys/fs/cgroup/memory/k8s.io', '/sys/fs/cgroup/k8s.io'];
const EVERY_MS = 200;
/** In the mounts of a container's programs: a volume of its Pod. */
const POD = /\/pods\/([0-9a-f-]{36})\/volumes\//;
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
  const groups = GROUPS.flatMap((top) =>
    orNothing(() => readdirSync(top)).map((name) => path.join(top, name)),
  );
  return groups.flatMap((group) => {
    const pids = linesOf(path.join(group, 'cgroup.procs')).filter((pid) => pid !== '');
    const pid = pids.find((one) => linesOf(`/proc/${one}/environ`, '\0').includes(OF_USER));
    const mount = pid && linesOf(`/proc/${pid}/mountinfo`).find((line) => POD.test(line));
    const uid = mount && POD.exec(mount)?.[1];
    return uid ? [uid] : [];
  });
}

const linesOf = (file: string, end = '\n'): readonly string[] =>
  orNothing(() => readFileSync(file, 'latin1').split(end));

/** Groups and processes go while they are read. */
function orNothing<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch {
    return [];
  }
}
