import { until } from '../namespaces/inside.mjs';
import { callEngine } from './engine-api.mjs';
import { SWARM_PORT } from './nodes.mjs';

/** A node that is silent for three of these is lost, and its tasks with it. */
const HEARTBEAT_NS = 60e9;

/** @typedef {import('./nodes.mjs').Node} Node */

/** @param {Node} node */
const listening = ({ address }) => ({
  ListenAddr: `${address}:${SWARM_PORT}`,
  AdvertiseAddr: address,
  DataPathAddr: address,
});

/** Makes a Swarm with this node as its only manager. @param {Node} node */
export async function makeSwarm(node) {
  const Spec = { Dispatcher: { HeartbeatPeriod: HEARTBEAT_NS } };
  await callEngine(node.socket, 'POST', '/swarm/init', { ...listening(node), Spec });
}

/** @param {Node} worker @param {Node} manager */
export async function joinSwarm(worker, manager) {
  const { JoinTokens } = await callEngine(manager.socket, 'GET', '/swarm');
  const given = { RemoteAddrs: [`${manager.address}:${SWARM_PORT}`], JoinToken: JoinTokens.Worker };
  await callEngine(worker.socket, 'POST', '/swarm/join', { ...listening(worker), ...given });
}

/** Also as a manager. @param {Node} node */
export const leaveSwarm = ({ socket }) => callEngine(socket, 'POST', '/swarm/leave?force=true');

/** Waits until so many nodes are ready. @param {Node} manager @param {number} count */
export const waitForNodes = ({ socket }, count) =>
  until('every node', async () => {
    const seen = await callEngine(socket, 'GET', '/nodes');
    return seen.filter((/** @type {any} */ { Status }) => Status.State === 'ready').length === count;
  });
