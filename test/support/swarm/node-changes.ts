import type Docker from 'dockerode';
import { waitFor, waitForValue } from '../patience.ts';
import type { NodeName, SwarmCluster } from './cluster.ts';

const PATIENT = { patienceMs: 60_000, everyMs: 200 };
const ALL: readonly NodeName[] = ['n1', 'n2', 'n3'];

type NodeSpec = {
  readonly Role: 'manager' | 'worker';
  readonly Availability: 'active' | 'pause' | 'drain';
};

type ListedNode = {
  readonly ID: string;
  readonly Version: { readonly Index: number };
  readonly Spec: NodeSpec;
  readonly Description: { readonly Hostname: string };
  readonly Status: { readonly State: string };
  readonly ManagerStatus?: { readonly Reachability: string };
};

/** The nodes as this manager lists them; none while it has no leader. A node that joined again is there twice. */
const listed = async (manager: Docker): Promise<readonly ListedNode[]> =>
  (await manager.listNodes().catch(() => [])) as ListedNode[];

const named = async (manager: Docker, name: NodeName): Promise<readonly ListedNode[]> =>
  (await listed(manager)).filter(({ Description }) => Description.Hostname === name);

export const isReady = async (manager: Docker, name: NodeName): Promise<boolean> =>
  (await named(manager, name)).some(({ Status }) => Status.State === 'ready');

/** Changes a node as `docker node update` does, again when the Swarm changes it meanwhile. */
export async function changeNode(manager: Docker, name: NodeName, change: Partial<NodeSpec>): Promise<void> {
  const isChanged = async (): Promise<boolean> => {
    const found = await named(manager, name);
    for (const { ID, Version, Spec } of found)
      await manager.getNode(ID).update({ version: Version.Index, ...Spec, ...change } as never);
    return found.length > 0;
  };
  await waitFor(() => isChanged().catch(() => false), { ...PATIENT, what: `${name} is changed` });
}

const isManager = ({ ManagerStatus }: ListedNode): boolean => ManagerStatus?.Reachability === 'reachable';

/** Waits until this many managers reach each other. */
export const managersAre = (manager: Docker, count: number) =>
  waitForValue(
    () => listed(manager),
    (nodes) => nodes.filter(isManager).length === count,
    PATIENT,
  );

/** Makes all nodes managers. */
export async function promoteAll(cluster: SwarmCluster): Promise<void> {
  const manager = cluster.engineOf();
  for (const name of ALL) await changeNode(manager, name, { Role: 'manager' });
  await managersAre(manager, ALL.length);
}

/** Restores what `npm run test:swarm` began with: all nodes are in the Swarm of `n1`, its only manager. */
export async function restoreMembers(cluster: SwarmCluster): Promise<void> {
  const manager = cluster.engineOf();
  for (const name of ALL) await cluster.start(name);
  await waitForValue(
    () => listed(manager),
    ({ length }) => length > 0,
    PATIENT,
  );
  for (const name of ALL.slice(1)) {
    if ((await named(manager, name)).length > 0) await changeNode(manager, name, { Role: 'worker' });
    await waitFor(async () => !(await named(manager, name)).some(isManager), PATIENT);
    await rejoin(cluster, name);
  }
}

/** Lets a node join again unless it is a ready one already. */
async function rejoin(cluster: SwarmCluster, name: NodeName): Promise<void> {
  const manager = cluster.engineOf();
  const { Swarm } = (await cluster.engineOf(name).info()) as { Swarm?: { NodeID?: string } };
  const known = await named(manager, name);
  if (!known.some(({ ID }) => ID === Swarm?.NodeID)) {
    if (Swarm?.NodeID) await cluster.leave(name);
    for (const { ID } of known) await manager.getNode(ID).remove({ force: true });
    await cluster.join(name);
  }
  await waitFor(() => isWorker(cluster, name), PATIENT);
  await waitFor(() => isReady(manager, name), PATIENT);
}

/** By its own engine: a node that was demoted leaves the Swarm for a moment, while its manager calls it ready. */
async function isWorker(cluster: SwarmCluster, name: NodeName): Promise<boolean> {
  const { Swarm } = (await cluster.engineOf(name).info()) as {
    Swarm?: { LocalNodeState?: string; ControlAvailable?: boolean };
  };
  return Swarm?.LocalNodeState === 'active' && Swarm.ControlAvailable === false;
}
