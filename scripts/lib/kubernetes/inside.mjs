import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, Server } from 'node:net';
import path from 'node:path';
import { capture } from '../command.mjs';
import { environmentOf } from '../debian/packages.mjs';
import { API_PORT, API_SERVICE, BRIDGE, NODE_ADDRESS, SECOND_NODE } from './addresses.mjs';
import { apiClient } from './api-client.mjs';
import { containerdSocket, daemonsOf, writeDaemonFiles } from './daemons.mjs';
import { secondNode } from './second-node.mjs';
import { provisionVolumes } from './volume-provisioner.mjs';

// The first process of a cluster's own namespaces: its end is the end of everything in them.
/** @type {import('./daemons.mjs').Plan & { images: readonly string[] }} */
const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const { folder, credentials } = plan;
const daemons = daemonsOf(plan);
const api = apiClient(`https://127.0.0.1:${API_PORT}`, credentials);
/** @type {Map<string, import('node:child_process').ChildProcess>} */
const running = new Map();
const second = secondNode(plan, {
  run: must,
  start,
  importImages,
  kill: async (name) => {
    const child = running.get(name);
    if (child) await killed(child);
  },
});

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
async function must(program, ...args) {
  const env = environmentOf(plan.tools);
  const { code, output } = await capture(program, args, { cwd: '/', env });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${output.trim()}`);
}

/** @param {import('./daemons.mjs').Daemon} daemon */
function start({ name, program, args }) {
  const log = openSync(path.join(folder, 'logs', `${name}.log`), 'a');
  const env = { ...environmentOf(plan.tools), HOME: path.join(folder, 'tmp') };
  // A file, not a pipe: the shims of containerd keep its output open when it is killed.
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', log, log] });
  closeSync(log);
  const gone = () => {
    if (running.get(name) !== child) return;
    running.delete(name);
    tell({ ended: name });
  };
  child.once('exit', gone).once('error', gone);
  running.set(name, child);
}

/** @param {unknown} message */
const tell = (message) => process.send?.(message);

/** @param {string} name @param {() => Promise<boolean>} test */
async function until(name, test, seconds = 120) {
  const end = Date.now() + seconds * 1000;
  while (!(await test().catch(() => false))) {
    if (Date.now() > end) throw new Error(`${name} was not ready within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function startAll() {
  tell({ progress: 'starting etcd and the API server' });
  await prepare();
  start(daemons.etcd);
  start(daemons.containerd);
  start(daemons.apiServer);
  await until('the API server', async () => (await api.text('/readyz')) === 'ok');
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
  const child = running.get(name);
  /** @type {Record<string, () => unknown>} */
  const acts = {
    start: () => child ?? (daemon && start(daemon)),
    kill: () => child && killed(child),
    pause: () => child?.kill('SIGSTOP'),
    continue: () => child?.kill('SIGCONT'),
  };
  const wanted = name === SECOND_NODE ? second[act] : daemon && acts[act];
  if (wanted === undefined) return false;
  await wanted();
  return true;
}

/** @param {import('node:child_process').ChildProcess} child */
function killed(child) {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  return ended;
}

/** Takes orders such as `POST /kill/kubelet` at a socket, which leads out of the namespaces. */
function takeOrders() {
  const server = createHttpServer((request, response) => {
    const [act = '', name = ''] = (request.url ?? '').slice(1).split('/');
    obey(act, name).then(
      (isDone) => response.writeHead(isDone ? 204 : 404).end(),
      (error) => response.writeHead(500).end(`${error}`),
    );
  });
  server.listen(path.join(folder, 'orders.sock'));
}

process.on('message', (/** @type {unknown} */ _message, handle) => {
  if (handle instanceof Server) passOn(handle);
});
// The caller is gone.
process.on('disconnect', () => process.exit());
takeOrders();

startAll().then(
  () => tell({ ready: true }),
  (error) => tell({ failed: error instanceof Error ? error.message : `${error}` }),
);
