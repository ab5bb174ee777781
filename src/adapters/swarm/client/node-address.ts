import { isIP } from 'node:net';
import { isWithin } from '../../docker/network/subnet.ts';
import type { SwarmNode } from './objects.ts';

/** Where the engines of a swarm's nodes answer. */
export type NodeAddresses = {
  /** With `{addr}`, `{hostname}` or `{id}` of a node. */
  readonly template: string;
  /** Of single nodes, by id or host name. */
  readonly byNode: Readonly<Record<string, string>>;
  /** A folder with `ca.pem`, `cert.pem` and `key.pem`; null without certificates. */
  readonly certPath: string | null;
};

export const hostnameOfNode = ({ Description, ID }: SwarmNode): string => Description.Hostname ?? ID;

/** Loopback or unspecified: no other machine reaches a node by it. */
const UNREACHABLE = ['0.0.0.0/32', '127.0.0.0/8'];
const UNREACHABLE_6 = ['::', '::1'];

const isOfNode = (address: string): boolean =>
  isIP(address) === 4 ? !isWithin(address, UNREACHABLE) : address !== '' && !UNREACHABLE_6.includes(address);

/**
 * The address of a node for other machines. A leader that joined without `--advertise-addr` shows as its own the address
 * that it listens on, such as 0.0.0.0: then its address as a manager is the right one.
 */
export function addressOfNode({
  Status,
  ManagerStatus,
}: Pick<SwarmNode, 'Status' | 'ManagerStatus'>): string {
  const own = Status.Addr ?? '';
  const ofManager = (ManagerStatus?.Addr ?? '').replace(/:\d+$/, '').replaceAll(/[[\]]/g, '');
  return !isOfNode(own) && isOfNode(ofManager) ? ofManager : own;
}

/** The address of a node's engine. */
export function urlOf(
  node: SwarmNode,
  { template, byNode }: Pick<NodeAddresses, 'template' | 'byNode'>,
): string {
  const values = { addr: addressOfNode(node), hostname: hostnameOfNode(node), id: node.ID };
  const given = byNode[node.ID] ?? byNode[values.hostname];
  return (
    given ??
    template.replaceAll(/\{(addr|hostname|id)\}/g, (_, key: string) => values[key as keyof typeof values])
  );
}
