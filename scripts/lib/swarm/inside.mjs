import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { searchPath } from '../debian/packages.mjs';
import { beFirst, daemonsIn, must as mustRun, takeOrders, tell, until } from '../namespaces/inside.mjs';
import { callEngine, loadImage } from './engine-api.mjs';
import { joinSwarm, leaveSwarm, makeSwarm, waitForNodes } from './membership.mjs';
import { BRIDGE, engineOf, MACHINE_LINK, machineAddress, nodesOf } from './nodes.mjs';

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
  if (manager === undefined) return;
  await makeSwarm(manager);
  for (const worker of workers) await joinSwarm(worker, manager);
  await waitForNodes(manager, nodes.length);
}

/**
 * For tests of faults: `kill`, `stop` and `start` of a node's engine, `partition` and `heal` of its cable, `leave` its Swarm,
 * `found` one of its own, `join` that of the first node. A killed or stopped engine has ended, a started one answers.
 * @param {string} act
 * @param {string} name
 */
async function obey(act, name) {
  const node = nodes.find((each) => each.name === name);
  const [first] = nodes;
  if (node === undefined || first === undefined) return false;
  /** @type {Record<string, () => Promise<unknown>>} */
  const acts = {
    kill: () => running.end(name),
    stop: () => running.end(name, 'SIGTERM'),
    start: () => start(node),
    partition: () => must('ip', 'link', 'set', node.link, 'down'),
    heal: () => must('ip', 'link', 'set', node.link, 'up'),
    leave: () => leaveSwarm(node),
    found: () => makeSwarm(node),
    join: () => joinSwarm(node, first),
  };
  const wanted = acts[act];
  if (wanted === undefined) return false;
  await wanted();
  return true;
}

takeOrders(folder, obey);
beFirst(startAll);
