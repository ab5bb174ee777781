import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  API_PORT,
  BRIDGE,
  NODE_ADDRESS,
  SECOND_ADDRESS,
  SECOND_NODE,
  SECOND_POD_RANGE,
} from './addresses.mjs';
import { kubeconfig } from './certificates.mjs';
import { containerdSocket, nodeDaemons, writeNodeFiles } from './daemons.mjs';

const NETWORK = 'second';
const LINK = 'second0';

/**
 * What a node is made with: `run` runs a program to its end, `start` starts a daemon, `kill` ends one that was started,
 * `importImages` fills a containerd.
 * @typedef {{ run: (program: string, ...args: readonly string[]) => Promise<void>,
 *   start: (daemon: import('./daemons.mjs').Daemon) => void, kill: (name: string) => Promise<void>,
 *   importImages: (socket: string) => Promise<void> }} Hands
 */

/**
 * A second node for tests of lost ones, in a network of its own, with a cable that can be cut. Its orders: `start`, `kill`,
 * `pause` (cuts the cable) and `continue`.
 * @param {import('./daemons.mjs').Plan} plan
 * @param {Hands} hands
 * @returns {Readonly<Record<string, () => Promise<void>>>}
 */
export function secondNode(plan, { run, start, kill, importImages }) {
  const folder = path.join(plan.folder, NETWORK);
  const node = {
    name: SECOND_NODE,
    address: SECOND_ADDRESS,
    kubeconfig: path.join(folder, 'admin.conf'),
    podRange: SECOND_POD_RANGE,
    group: `${plan.group}/${NETWORK}`,
    folder,
  };
  const daemons = Object.values(nodeDaemons(plan, node)).map(inItsNetwork);
  const [containerd, kubelet] = daemons;
  let isConnected = false;

  async function connect() {
    await run('ip', 'netns', 'add', NETWORK);
    await run('ip', 'link', 'add', LINK, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', NETWORK);
    await run('ip', 'link', 'set', LINK, 'master', BRIDGE);
    await run('ip', 'link', 'set', LINK, 'up');
    for (const words of [
      ['link', 'set', 'lo', 'up'],
      ['address', 'add', `${SECOND_ADDRESS}/16`, 'dev', 'eth0'],
      ['link', 'set', 'eth0', 'up'],
      ['route', 'add', 'default', 'via', NODE_ADDRESS],
    ])
      await run('ip', '-n', NETWORK, ...words);
    isConnected = true;
  }

  return {
    async start() {
      mkdirSync(folder, { recursive: true });
      const server = `https://${NODE_ADDRESS}:${API_PORT}`;
      const { authority, adminToken: token } = plan.credentials;
      writeFileSync(node.kubeconfig, kubeconfig({ server, authority, token }), { mode: 0o600 });
      writeNodeFiles(plan, node);
      if (!isConnected) await connect();
      if (containerd) start(containerd);
      await importImages(containerdSocket(folder));
      if (kubelet) start(kubelet);
    },
    async kill() {
      for (const { name } of daemons.toReversed()) await kill(name);
    },
    pause: () => run('ip', 'link', 'set', LINK, 'down'),
    continue: () => run('ip', 'link', 'set', LINK, 'up'),
  };
}

/** @param {import('./daemons.mjs').Daemon} daemon */
const inItsNetwork = ({ name, program, args }) => ({
  name: `${name} of ${SECOND_NODE}`,
  program: 'nsenter',
  args: [`--net=/run/netns/${NETWORK}`, program, ...args],
});
