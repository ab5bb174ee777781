import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { searchPath } from '../debian/packages.mjs';
import { beFirst, daemonsIn, must as mustRun, takeOrders, tell, until } from '../namespaces/inside.mjs';
import { callEngine, loadImage } from './engine-api.mjs';
import { BRIDGE, engineOf, MACHINE_LINK, machineAddress, nodesOf, SWARM_PORT } from './nodes.mjs';

// The first process of a cluster's own namespaces: its end is the end of everything in them.
/** @type {import('./nodes.mjs').Plan} */
const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const { folder, template } = plan;
const env = { ...process.env, PATH: searchPath(plan.programs), HOME: folder };
const nodes = nodesOf(plan);
/** The caller moves one end of the machine's cable in here. */
const isCabled = new Promise((resolve) => process.once('message', resolve));
const running = daemonsIn(folder, env);
/** What engines share: layers of the image, which none of them changes. */
const LINKED = 'overlay2';
const COPIED = 'image';
/** A node that is silent for three of these is lost, and its tasks with it. */
const HEARTBEAT_NS = 60e9;

/** @param {string} program @param {readonly string[]} args */
const must = (program, ...args) => mustRun(program, args, env);

/** @typedef {import('./nodes.mjs').Node} Node */

async function prepare() {
  for (const name of ['run', 'logs']) mkdirSync(path.join(folder, name), { recursive: true });
  await must('mount', '--bind', path.join(folder, 'run'), '/run');
  await must('ip', 'link', 'set', 'lo', 'up');
  await must('ip', 'link', 'add', BRIDGE, 'type', 'bridge');
  await must('ip', 'link', 'set', BRIDGE, 'up');
  await isCabled;
  await must('ip', 'link', 'set', MACHINE_LINK, 'master', BRIDGE);
  await must('ip', 'link', 'set', MACHINE_LINK, 'up');
  for (const node of nodes) await connect(node);
}

/** @param {Node} node */
async function connect({ name, link, address }) {
  await must('ip', 'netns', 'add', name);
  await must('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  await must('ip', 'link', 'set', link, 'master', BRIDGE);
  await must('ip', 'link', 'set', link, 'up');
  for (const words of [
    ['link', 'set', 'lo', 'up'],
    ['address', 'add', `${address}/24`, 'dev', 'eth0'],
    ['link', 'set', 'eth0', 'up'],
    ['route', 'add', 'default', 'via', machineAddress(plan.subnet)],
  ])
    await must('ip', '-n', name, ...words);
}

/** @param {Node} node Resolves when its engine answers. */
async function start(node) {
  // Of an engine that was killed: the number may be another program's by now.
  rmSync(path.join(node.folder, 'pid'), { force: true });
  running.start(engineOf(plan, node));
  await until(`the engine of ${node.name}`, async () => {
    await callEngine(node.socket, 'GET', '/version');
    return true;
  });
}

/** Makes the data that every engine begins with, by an engine that is there for this alone. */
async function makeTemplate() {
  tell({ progress: 'loading the base image, once' });
  const node = /** @type {Node} */ (nodes[0]);
  await start(node);
  await loadImage(node.socket, plan.image);
  await running.end(node.name, 'SIGTERM');
  const draft = `${template}.${path.basename(folder)}`;
  mkdirSync(draft, { recursive: true });
  for (const part of [LINKED, COPIED])
    renameSync(path.join(node.folder, 'root', part), path.join(draft, part));
  rmSync(template, { recursive: true, force: true });
  renameSync(draft, template);
  rmSync(node.folder, { recursive: true, force: true });
}

/** @param {Node} node */
async function giveImage({ folder }) {
  const root = path.join(folder, 'root');
  mkdirSync(root, { recursive: true });
  await must('cp', '--archive', '--link', path.join(template, LINKED), root);
  await must('cp', '--archive', path.join(template, COPIED), root);
}

async function startAll() {
  await prepare();
  if (!existsSync(template)) await makeTemplate();
  tell({ progress: 'starting three nodes' });
  await Promise.all(nodes.map(giveImage));
  await Promise.all(nodes.map(start));
  const [manager, ...workers] = nodes;
  if (manager) await join(manager, workers);
}

/** @param {Node} manager @param {readonly Node[]} workers */
async function join(manager, workers) {
  const listening = (/** @type {Node} */ { address }) => ({
    ListenAddr: `${address}:${SWARM_PORT}`,
    AdvertiseAddr: address,
    DataPathAddr: address,
  });
  const Spec = { Dispatcher: { HeartbeatPeriod: HEARTBEAT_NS } };
  await callEngine(manager.socket, 'POST', '/swarm/init', { ...listening(manager), Spec });
  const { JoinTokens } = await callEngine(manager.socket, 'GET', '/swarm');
  const given = { RemoteAddrs: [`${manager.address}:${SWARM_PORT}`], JoinToken: JoinTokens.Worker };
  for (const worker of workers)
    await callEngine(worker.socket, 'POST', '/swarm/join', { ...listening(worker), ...given });
  await until('every node', async () => {
    const seen = await callEngine(manager.socket, 'GET', '/nodes');
    const ready = seen.filter((/** @type {any} */ { Status }) => Status.State === 'ready');
    return ready.length === nodes.length;
  });
}

/**
 * For tests of faults: `kill` and `start` of a node's engine, `partition` and `heal` of its cable. A killed one has ended, a
 * started one answers.
 * @param {string} act
 * @param {string} name
 */
async function obey(act, name) {
  const node = nodes.find((each) => each.name === name);
  if (node === undefined) return false;
  /** @type {Record<string, () => Promise<unknown>>} */
  const acts = {
    kill: () => running.end(name),
    start: () => start(node),
    partition: () => must('ip', 'link', 'set', node.link, 'down'),
    heal: () => must('ip', 'link', 'set', node.link, 'up'),
  };
  const wanted = acts[act];
  if (wanted === undefined) return false;
  await wanted();
  return true;
}

takeOrders(folder, obey);
beFirst(startAll);
