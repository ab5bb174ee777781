import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { API_PORT, NODE, NODE_ADDRESS, POD_RANGE, SERVICE_RANGE } from './addresses.mjs';

/**
 * `programs` has kube-apiserver and the others, `tools` the unpacked packages, `folder` all that this cluster writes.
 * @typedef {{ folder: string, programs: string, tools: string, group: string, pauseImage: string,
 *   credentials: import('./certificates.mjs').Credentials }} Plan
 * @typedef {{ name: string, program: string, args: readonly string[] }} Daemon
 */

/**
 * A node: `folder` has all that it writes, `kubeconfig` leads from it to the API server, `podRange` is that of its Pods.
 * @typedef {{ name: string, address: string, folder: string, group: string, kubeconfig: string, podRange: string }} Node
 */

/** How soon the cluster notices a silent node. The usual 40 s would only make tests slower. */
const NODE_GRACE = '10s';

/**
 * The node that every cluster has.
 * @param {Plan} plan
 * @returns {Node}
 */
export const firstNode = ({ folder, group }) => ({
  name: NODE,
  address: NODE_ADDRESS,
  kubeconfig: path.join(folder, 'admin.conf'),
  podRange: POD_RANGE,
  folder,
  group,
});

/**
 * The programs of a cluster, in the order of their start.
 * @param {Plan} plan
 * @returns {Readonly<Record<'etcd' | 'apiServer' | 'controllerManager' | 'scheduler' | 'containerd' | 'kubelet', Daemon>>}
 */
export const daemonsOf = (plan) => ({
  etcd: etcd(plan),
  apiServer: apiServer(plan),
  controllerManager: controllerManager(plan),
  scheduler: scheduler(plan),
  ...nodeDaemons(plan, firstNode(plan)),
});

/**
 * The programs of one node.
 * @param {Plan} plan
 * @param {Node} node
 */
export const nodeDaemons = (plan, node) => ({ containerd: containerd(node), kubelet: kubelet(plan, node) });

/** @param {Plan} plan @returns {Daemon} */
const etcd = ({ folder, tools }) => ({
  name: 'etcd',
  program: path.join(tools, 'usr/bin/etcd'),
  args: [
    `--data-dir=${path.join(folder, 'etcd')}`,
    '--listen-client-urls=http://127.0.0.1:2379',
    '--advertise-client-urls=http://127.0.0.1:2379',
    '--listen-peer-urls=http://127.0.0.1:2380',
    // Nothing of it outlives the run.
    '--unsafe-no-fsync',
  ],
});

/** @param {Plan} plan @returns {Daemon} */
const apiServer = ({ folder, programs, credentials }) => ({
  name: 'kube-apiserver',
  program: path.join(programs, 'kube-apiserver'),
  args: [
    '--etcd-servers=http://127.0.0.1:2379',
    `--advertise-address=${NODE_ADDRESS}`,
    '--kubelet-preferred-address-types=InternalIP',
    `--secure-port=${API_PORT}`,
    `--tls-cert-file=${credentials.serverCertificate}`,
    `--tls-private-key-file=${credentials.serverKey}`,
    `--token-auth-file=${credentials.tokens}`,
    '--authorization-mode=RBAC',
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    `--service-account-key-file=${credentials.accountKey}`,
    `--service-account-signing-key-file=${credentials.accountKey}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--audit-policy-file=${path.join(folder, 'audit-policy.json')}`,
    `--audit-log-path=${auditLog(folder)}`,
  ],
});

/** @param {Plan} plan @returns {Daemon} */
const controllerManager = ({ folder, programs, credentials }) => ({
  name: 'kube-controller-manager',
  program: path.join(programs, 'kube-controller-manager'),
  args: [
    `--kubeconfig=${path.join(folder, 'admin.conf')}`,
    `--service-account-private-key-file=${credentials.accountKey}`,
    `--root-ca-file=${credentials.authority}`,
    `--node-monitor-grace-period=${NODE_GRACE}`,
    '--leader-elect=false',
    '--port=0',
  ],
});

/** @param {Plan} plan @returns {Daemon} */
const scheduler = ({ folder, programs }) => ({
  name: 'kube-scheduler',
  program: path.join(programs, 'kube-scheduler'),
  args: [`--kubeconfig=${path.join(folder, 'admin.conf')}`, '--leader-elect=false', '--port=0'],
});

/** @param {Node} node @returns {Daemon} */
const containerd = ({ folder }) => ({
  name: 'containerd',
  program: 'containerd',
  args: ['--config', path.join(folder, 'containerd.toml')],
});

/** @param {Plan} plan @param {Node} node @returns {Daemon} */
const kubelet = ({ programs }, { name, address, folder, group, kubeconfig }) => ({
  name: 'kubelet',
  program: path.join(programs, 'kubelet'),
  args: [
    `--kubeconfig=${kubeconfig}`,
    `--root-dir=${path.join(folder, 'kubelet')}`,
    `--cert-dir=${path.join(folder, 'kubelet', 'pki')}`,
    '--container-runtime=remote',
    `--container-runtime-endpoint=unix://${containerdSocket(folder)}`,
    `--hostname-override=${name}`,
    `--node-ip=${address}`,
    `--cgroup-root=${group}`,
    '--cgroup-driver=cgroupfs',
    '--cgroups-per-qos=false',
    '--enforce-node-allocatable=',
    '--eviction-hard=',
    '--image-gc-high-threshold=100',
    '--fail-swap-on=false',
    '--make-iptables-util-chains=false',
    // The kernel's settings are the machine's.
    '--protect-kernel-defaults',
    '--oom-score-adj=0',
    '--anonymous-auth=true',
    '--authorization-mode=AlwaysAllow',
    '--read-only-port=0',
    `--resolv-conf=${path.join(folder, 'resolv.conf')}`,
    `--volume-plugin-dir=${path.join(folder, 'plugins')}`,
    '--node-status-update-frequency=3s',
  ],
});

/**
 * The file with a line per request of the service's account.
 * @param {string} folder
 */
export const auditLog = (folder) => path.join(folder, 'logs', 'audit.log');

const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', users: ['system:serviceaccount:berth:berth'] }, { level: 'None' }],
};

/** @param {string} folder */
export const containerdSocket = (folder) => path.join(folder, 'containerd.sock');

/**
 * Writes what the programs of the whole cluster read from files.
 * @param {Plan} plan
 */
export function writeDaemonFiles(plan) {
  writeFileSync(path.join(plan.folder, 'audit-policy.json'), JSON.stringify(auditPolicy));
  writeNodeFiles(plan, firstNode(plan));
}

/**
 * Writes what the programs of a node read from files.
 * @param {Plan} plan
 * @param {Node} node
 */
export function writeNodeFiles({ tools, pauseImage }, { name, folder, podRange }) {
  for (const each of ['cni', 'plugins']) mkdirSync(path.join(folder, each), { recursive: true });
  writeFileSync(path.join(folder, 'cni', '10-pods.conflist'), JSON.stringify(podNetwork(name, podRange)));
  writeFileSync(path.join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\n');
  writeFileSync(path.join(folder, 'containerd.toml'), containerdConfig(folder, tools, pauseImage));
}

/**
 * @param {string} node
 * @param {string} podRange
 */
const podNetwork = (node, podRange) => ({
  cniVersion: '0.4.0',
  // Nodes of one machine keep their addresses in one folder, by this name.
  name: `pods-of-${node}`,
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipMasq: false,
      ipam: { type: 'host-local', subnet: podRange, routes: [{ dst: '0.0.0.0/0' }] },
    },
  ],
});

/**
 * `restrict_oom_score_adj`: without it runc fails on machines where root may not lower the score.
 * @param {string} folder
 * @param {string} tools
 * @param {string} pauseImage
 */
const containerdConfig = (folder, tools, pauseImage) => `version = 2
root = "${folder}/containerd/root"
state = "${folder}/containerd/state"
[grpc]
  address = "${containerdSocket(folder)}"
[plugins."io.containerd.internal.v1.opt"]
  path = "${folder}/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${tools}/usr/lib/cni"
    conf_dir = "${folder}/cni"
`;
