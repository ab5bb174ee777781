import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The network of the machine and the nodes, as `ip` shows it. */
export const BRIDGE = 'br0';
export const MACHINE_LINK = 'machine';
const NUMBERS = [1, 2, 3];
/** Of the machine itself, in the nodes' network. */
const MACHINE = 254;
const ENGINE_PORT = 2376;
export const SWARM_PORT = 2377;

/**
 * `subnet`: the first three numbers of the nodes' addresses. `programs`: an unpacked engine. `image`: the archive of the
 * base image, `template`: the data of an engine that has it.
 * @typedef {import('../namespaces/cluster-folder.mjs').ClusterFolder & { subnet: string, programs: string, image: string,
 *   template: string, authority: string, server: import('../namespaces/certificates.mjs').KeyPair }} Plan
 * @typedef {{ name: string, address: string, link: string, folder: string, socket: string }} Node
 */

/**
 * The manager first.
 * @param {Pick<Plan, 'folder' | 'subnet'>} plan
 * @returns {readonly Node[]}
 */
export const nodesOf = ({ folder, subnet }) => NUMBERS.map((number) => node(folder, subnet, number));

/** @param {string} folder @param {string} subnet @param {number} number @returns {Node} */
const node = (folder, subnet, number) => ({
  name: `n${number}`,
  address: `${subnet}.${number}`,
  link: `v${number}`,
  folder: path.join(folder, `n${number}`),
  socket: path.join(folder, `n${number}`, 'docker.sock'),
});

/** @param {string} subnet */
export const machineAddress = (subnet) => `${subnet}.${MACHINE}`;

/**
 * The engine of a node. The nodes ask for what services of old engines cannot: without new privileges.
 * @param {Plan} plan
 * @param {Node} node
 * @returns {import('../namespaces/inside.mjs').Daemon}
 */
export function engineOf({ authority, server, group }, { name, address, folder, socket }) {
  mkdirSync(folder, { recursive: true });
  const config = path.join(folder, 'daemon.json');
  const settings = {
    'data-root': path.join(folder, 'root'),
    'exec-root': path.join(folder, 'exec'),
    pidfile: path.join(folder, 'pid'),
    hosts: [`unix://${socket}`, `tcp://${address}:${ENGINE_PORT}`],
    tlsverify: true,
    tlscacert: authority,
    tlscert: server.certificate,
    tlskey: server.key,
    'cgroup-parent': `${group}/${name}`,
    'no-new-privileges': true,
    'userland-proxy': false,
    'log-level': 'warn',
  };
  writeFileSync(config, JSON.stringify(settings));
  const command = `echo ${name} > /proc/sys/kernel/hostname && exec dockerd --config-file "$0"`;
  return {
    name,
    program: 'nsenter',
    args: [`--net=/run/netns/${name}`, 'unshare', '--uts', 'sh', '-c', command, config],
    // Else each start would first wait for a registry.
    env: { DOCKER_SERVICE_PREFER_OFFLINE_IMAGE: '1' },
  };
}
