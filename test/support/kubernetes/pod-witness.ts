import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import type { TestCluster } from './cluster.ts';

const LINE = '{.type} {.object.metadata.uid} {.object.metadata.labels.berth\\.db_id}{"\\n"}';

/**
 * Watches all Pods of containers from outside of Berth, until the test ends. `faults`: each moment at which a container had
 * two. A watch that breaks begins again with what there is. `containerOf`: of a Pod's uid, also of a former one's.
 */
export function watchPods(t: Pick<Test, 'teardown'>, { kubectl, adminKubeconfig, namespace }: TestCluster) {
  const faults: string[] = [];
  const containers = new Map<string, string>();
  let isOver = false;
  let stop = (): void => {};
  const follow = (): void => {
    const present = new Map<string, string>();
    const words = ['-n', namespace, 'get', 'pods', '--watch', '--output-watch-events', '-l', 'berth.db_id'];
    const env = { ...process.env, KUBECONFIG: adminKubeconfig };
    const child = spawn(kubectl, [...words, '-o', `jsonpath=${LINE}`], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    stop = () => void child.kill('SIGKILL');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [type, uid = '', dbId = ''] = line.split(' ');
      if (type === 'DELETED') return void present.delete(uid);
      containers.set(uid, dbId);
      present.set(uid, dbId);
      const same = [...present.values()].filter((one) => one === dbId).length;
      if (same > 1) faults.push(`${dbId} has ${same} Pods`);
    });
    child.once('close', () => isOver || setTimeout(follow, 200).unref());
  };
  follow();
  t.teardown(() => {
    isOver = true;
    stop();
  });
  return {
    faults: () => faults,
    seen: () => containers.size,
    containerOf: (uid: string): string | undefined => containers.get(uid),
  };
}
