import { execFile } from 'node:child_process';
import { giveOrder } from '../process/cluster-orders.ts';

/** The cluster of `npm run test:kubernetes`. */
export type TestCluster = {
  /** With the rights of the service's account alone. */
  readonly kubeconfig: string;
  /** May do anything. */
  readonly adminKubeconfig: string;
  readonly namespace: string;
  /** The base image of containers, as its nodes know it. */
  readonly image: string;
  readonly kubectl: string;
  /** The socket that takes orders; null for a cluster that is not the tests' own. */
  readonly orders: string | null;
  /** The file with a line per request of the service's account; null for a cluster that is not the tests' own. */
  readonly audit: string | null;
};

/** Programs of a cluster of one's own. */
type Daemon =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'containerd'
  | 'kubelet'
  /** It starts by an order alone; pausing cuts its cable. */
  | 'node-2';

/** Throws outside of `npm run test:kubernetes`. */
export function testCluster(): TestCluster {
  const facts = process.env['TEST_KUBERNETES'];
  if (facts === undefined) throw new Error('this needs a cluster: npm run test:kubernetes');
  return JSON.parse(facts) as TestCluster;
}

/** Runs kubectl as administrator and returns its output. Rejects with its words when it fails. */
export async function kubectl(
  { kubectl: program, adminKubeconfig }: TestCluster,
  args: readonly string[],
  input = '',
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const env = { ...process.env, KUBECONFIG: adminKubeconfig };
  const child = execFile(program, args, { env, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
    if (error === null) resolve(stdout);
    else reject(new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`));
  });
  child.stdin?.end(input);
  return await promise;
}

/** Kills, pauses or continues a program of a cluster of one's own, or starts it again. */
export function order(
  { orders }: TestCluster,
  act: 'kill' | 'start' | 'pause' | 'continue',
  daemon: Daemon,
): Promise<void> {
  if (orders === null) throw new Error('only a cluster of one’s own takes orders');
  return giveOrder(orders, act, daemon);
}
