/** A real API server without a node, whose place a stand-in takes. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { berthAccount, NAMESPACE } from '../../../../scripts/lib/kubernetes/berth-account.mjs';
import { startOwnCluster } from '../../../../scripts/lib/kubernetes/own-cluster.mjs';
import type { ApiClient } from '../../../../src/adapters/kubernetes/client/api-client.ts';
import { Anything } from '../../../../src/adapters/kubernetes/client/objects.ts';
import { usedMs } from '../processor-time.ts';
import { startProgram } from '../servers.ts';
import { clientOf } from './settings.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const CACHE = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'berth-test');
const PAGE_BYTES = 4096;

export type BareCluster = {
  /** With the rights of the service's account alone. */
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly admin: ApiClient;
  /** Processor time so far of the API server and its database. */
  readonly usedMs: () => number;
  /** Resident memory of each. */
  readonly memory: () => { readonly apiServerBytes: number; readonly etcdBytes: number };
  readonly stop: () => Promise<void>;
};

export async function startBareCluster(): Promise<BareCluster> {
  const progress = (line: string): void => console.log(`# ${line}`);
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-bench-'));
  const cluster = await startOwnCluster(ROOT, { cache: CACHE, hasNode: false, progress });
  const remove = async (): Promise<void> => {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { kubectl, kubeconfig } = cluster;
    const account = await berthAccount(ROOT, { kubectl, kubeconfig, folder });
    const admin = await clientOf(kubeconfig, NAMESPACE);
    // What a controller makes in other clusters.
    const accounts = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
    await admin.call(Anything, { method: 'POST', path: accounts, body: { metadata: { name: 'default' } } });
    const node = await startProgram('pods/stand-in-node.ts', [kubeconfig, NAMESPACE]);
    const [apiServer, etcd] = ['kube-apiserver', 'etcd'].map((name) => pidOf(name, cluster.folder)) as [
      number,
      number,
    ];
    return {
      kubeconfig: account,
      namespace: NAMESPACE,
      admin,
      usedMs: () => usedMs(apiServer) + usedMs(etcd),
      memory: () => ({ apiServerBytes: residentBytes(apiServer), etcdBytes: residentBytes(etcd) }),
      async stop() {
        await node.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Of a program of the cluster in this folder, which is in a namespace of its own. */
function pidOf(program: string, folder: string): number {
  const commandOf = (pid: string): readonly string[] => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
    } catch {
      return [];
    }
  };
  const pid = readdirSync('/proc').find((name) => {
    const [file = '', ...args] = /^\d+$/.test(name) ? commandOf(name) : [];
    return path.basename(file) === program && args.some((arg) => arg.includes(folder));
  });
  if (pid === undefined) throw new Error(`the cluster has no ${program}`);
  return Number(pid);
}

function residentBytes(pid: number): number {
  const [, pages] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ');
  return Number(pages) * PAGE_BYTES;
}
