import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, Server } from 'node:net';
import path from 'node:path';
import { environmentOf } from '../debian/packages.mjs';
import { beFirst, daemonsIn, must as mustRun, takeOrders, tell, until } from '../namespaces/inside.mjs';
import { API_PORT, API_SERVICE, BRIDGE, NODE_ADDRESS, SECOND_NODE } from './addresses.mjs';
import { apiClient } from './api-client.mjs';
import { containerdSocket, daemonsOf, writeDaemonFiles } from './daemons.mjs';
import { secondNode } from './second-node.mjs';
import { provisionVolumes } from './volume-provisioner.mjs';

// The first process of a cluster's own namespaces: its end is the end of everything in them.
/** @type {import('./daemons.mjs').Plan & { images: readonly string[], hasNode: boolean }} */
const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const { folder, credentials } = plan;
const daemons = daemonsOf(plan);
const api = apiClient(`https://127.0.0.1:${API_PORT}`, credentials);
const running = daemonsIn(folder, { ...environmentOf(plan.tools), HOME: path.join(folder, 'tmp') });
const { start } = running;
const second = secondNode(plan, { run: must, start, importImages, kill: (name) => running.end(name) });

/** What the kubelet wants of the kernel, shown to this cluster alone: the machine's settings stay. */
const KERNEL = {
  'vm/overcommit_memory': '1',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};

async function prepare() {
  // Before the machine's own /tmp and /run are hidden.
  for (const name of ['tmp', 'run', 'volumes', 'kernel', 'logs', 'etcd'])
    mkdirSync(path.join(folder, name), { recursive: true });
  writeDaemonFiles(plan);
  for (const [name, value] of Object.entries(KERNEL)) {
    const file = path.join(folder, 'kernel', name.replaceAll('/', '-'));
    writeFileSync(file, `${value}\n`);
    await must('mount', '--bind', file, `/proc/sys/${name}`);
  }
  await must('mount', '--bind', path.join(folder, 'run'), '/run');
  await must('mount', '--bind', path.join(folder, 'tmp'), '/tmp');
  await must('ip', 'link', 'set', 'lo', 'up');
  await must('ip', 'link', 'add', BRIDGE, 'type', 'bridge');
  await must('ip', 'address', 'add', `${NODE_ADDRESS}/16`, 'dev', BRIDGE);
  await must('ip', 'link', 'set', BRIDGE, 'up');
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
  // Instead of kube-proxy: Pods reach the API server by its service.
  const target = ['-j', 'DNAT', '--to-destination', `${NODE_ADDRESS}:${API_PORT}`];
  for (const chain of ['PREROUTING', 'OUTPUT'])
    await must(
      'iptables',
      '-t',
      'nat',
      '-A',
      chain,
      '-d',
      API_SERVICE,
      '-p',
      'tcp',
      '--dport',
      '443',
      ...target,
    );
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 */
function must(program, ...args) {
  return mustRun(program, args, environmentOf(plan.tools));
}

async function startAll() {
  tell({ progress: 'starting etcd and the API server' });
  await prepare();
  start(daemons.etcd);
  if (plan.hasNode) start(daemons.containerd);
  start(daemons.apiServer);
  await until('the API server', async () => (await api.text('/readyz')) === 'ok');
  if (plan.hasNode) await startNode();
}

async function startNode() {
  await importImages(containerdSocket(folder));
  start(daemons.controllerManager);
  start(daemons.scheduler);
  start(daemons.kubelet);
  tell({ progress: 'waiting for the node' });
  await provisionVolumes(api, { folder: path.join(folder, 'volumes') });
  await until('the node', nodeIsReady);
  await until('the default service account', async () => {
    const accounts = await api.get('/api/v1/namespaces/default/serviceaccounts/default');
    return Array.isArray(accounts.secrets);
  });
}

async function nodeIsReady() {
  const { items } = await api.get('/api/v1/nodes');
  return items[0]?.status.conditions.some(
    (/** @type {{ type: string, status: string }} */ each) => each.type === 'Ready' && each.status === 'True',
  );
}

/** @param {string} address Of a containerd. */
async function importImages(address) {
  const socket = ['--address', address, '--namespace', 'k8s.io'];
  const answers = () => must('ctr', ...socket, 'version').then(() => true);
  await until('containerd', answers);
  for (const image of plan.images) {
    tell({ progress: `importing ${path.basename(image)}` });
    await must('ctr', ...socket, 'images', 'import', image);
  }
}

/** @param {Server} server Listens on the machine's loopback. */
function passOn(server) {
  server.on('connection', (socket) => {
    socket.setNoDelay(true);
    const inner = connect({ host: '127.0.0.1', port: API_PORT, noDelay: true });
    for (const [one, other] of [
      [socket, inner],
      [inner, socket],
    ])
      one?.on('error', () => other?.destroy()).on('close', () => other?.destroy());
    socket.pipe(inner).pipe(socket);
  });
}

/**
 * For tests of faults: `kill`, `start`, `pause`, `continue` and the name of a program, or the second node's. A killed one
 * has ended.
 * @param {string} act
 * @param {string} name
 */
async function obey(act, name) {
  const daemon = Object.values(daemons).find((each) => each.name === name);
  /** @type {Record<string, () => unknown>} */
  const acts = {
    start: () => daemon && start(daemon),
    kill: () => running.end(name),
    pause: () => running.signal(name, 'SIGSTOP'),
    continue: () => running.signal(name, 'SIGCONT'),
  };
  const wanted = name === SECOND_NODE ? second[act] : daemon && acts[act];
  if (wanted === undefined) return false;
  await wanted();
  return true;
}

process.on('message', (/** @type {unknown} */ _message, handle) => {
  if (handle instanceof Server) passOn(handle);
});
takeOrders(folder, obey);
beFirst(startAll);
