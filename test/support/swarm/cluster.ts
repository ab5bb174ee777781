import { rmSync } from 'node:fs';
import path from 'node:path';
import type Docker from 'dockerode';
import { dockerAt } from '../../../src/adapters/docker/engine/engine-client.ts';
import { addressOf } from '../../../src/adapters/docker/engine/engine-probe.ts';
import { giveOrder } from '../process/cluster-orders.ts';

/** What `npm run test:swarm` tells of its Swarm. */
type Facts = {
  readonly engine: string;
  /** The base image of containers, which every node has. */
  readonly image: string;
  /** Of a client, as DOCKER_CERT_PATH names a folder. */
  readonly certificates: string;
  readonly orders: string;
  readonly nodes: readonly SwarmNode[];
};

export type SwarmNode = {
  /** Its hostname. */
  readonly name: NodeName;
  readonly address: string;
  /** Its engine answers there also when the node is cut off. */
  readonly socket: string;
};

export type NodeName = 'n1' | 'n2' | 'n3';

export type SwarmCluster = Facts & {
  /** The manager `n1` as a value of DOCKER_HOST; it has client certificates. */
  readonly dockerHost: string;
  /** A node's engine, reached past the network. The manager's without a name. */
  engineOf(name?: NodeName): Docker;
  /** Pulls a node's cable; Berth and the manager no longer reach it. */
  partition(name: NodeName): Promise<void>;
  heal(name: NodeName): Promise<void>;
  /** Kills a node's engine. */
  kill(name: NodeName): Promise<void>;
  /** Does for a killed engine what an administrator has to: docs/swarm.md#after-a-crash-of-a-node. */
  forgetNetworks(name: NodeName): void;
  /** Stops a node's engine as a restart of its machine does. */
  stop(name: NodeName): Promise<void>;
  /** Starts an engine that was killed or stopped; resolves when it answers. */
  start(name: NodeName): Promise<void>;
  /** Lets a node leave its Swarm. The Swarm still lists it. */
  leave(name: NodeName): Promise<void>;
  /** Lets a node make a Swarm, as its only manager. */
  found(name: NodeName): Promise<void>;
  /** Lets a node join the Swarm of `n1` as a worker. */
  join(name: NodeName): Promise<void>;
};

const ENGINE_PORT = 2376;
const NETWORK_STORE = 'network/files/local-kv.db';

/** Throws outside of `npm run test:swarm`. */
export function swarmCluster(): SwarmCluster {
  const given = process.env['TEST_SWARM'];
  if (given === undefined) throw new Error('this needs a Swarm: npm run test:swarm');
  const facts = JSON.parse(given) as Facts;
  const [manager] = facts.nodes;
  if (manager === undefined) throw new Error('a Swarm has a manager');
  const order = (act: string) => (name: NodeName) => giveOrder(facts.orders, act, name);
  return {
    ...facts,
    dockerHost: `tcp://${manager.address}:${ENGINE_PORT}`,
    engineOf: (name) => {
      const node = facts.nodes.find((each) => each.name === name) ?? manager;
      return dockerAt(addressOf(`unix://${node.socket}`, null));
    },
    partition: order('partition'),
    heal: order('heal'),
    kill: order('kill'),
    stop: order('stop'),
    start: order('start'),
    leave: order('leave'),
    found: order('found'),
    join: order('join'),
    forgetNetworks(name) {
      const { socket = '' } = facts.nodes.find((each) => each.name === name) ?? {};
      rmSync(path.join(path.dirname(socket), 'root', NETWORK_STORE));
    },
  };
}
