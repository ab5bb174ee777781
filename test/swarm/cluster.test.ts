import t from 'tap';
import { addressOf, probe } from '../../src/adapters/docker/engine/engine-probe.ts';
import { eventually } from '../support/patience.ts';
import { type NodeName, swarmCluster } from '../support/swarm/cluster.ts';

const PATIENT = { patienceMs: 60_000, everyMs: 200 };
const cluster = swarmCluster();
const manager = cluster.engineOf();

/** Whether a client with certificates reaches the engine of a node over the network. */
async function answers(name: NodeName): Promise<boolean> {
  const { address } = cluster.nodes.find((node) => node.name === name) ?? { address: '' };
  return (await probe(addressOf(`https://${address}:2376`, cluster.certificates), 2)).answers;
}

const stateOf = async (name: NodeName): Promise<string | undefined> => {
  const nodes = (await manager.listNodes()) as {
    Description: { Hostname: string };
    Status: { State: string };
  }[];
  return nodes.find(({ Description }) => Description.Hostname === name)?.Status.State;
};
const becomes = (name: NodeName, state: string) =>
  eventually(
    () => stateOf(name),
    (seen) => seen === state,
    PATIENT,
  );

t.test('three nodes have the image, and their heartbeat is a minute', async (t) => {
  for (const { name } of cluster.nodes) {
    t.equal(await stateOf(name), 'ready');
    t.ok(await answers(name), `${name} answers a client with certificates`);
    await t.resolves(cluster.engineOf(name).getImage(cluster.image).inspect());
  }
  const { Spec } = await manager.swarmInspect();
  t.equal(Spec.Dispatcher.HeartbeatPeriod, 60e9);
  await t.rejects(cluster.kill('n4' as 'n3'), /does not kill/);
});

t.test('a node that is cut off is out of reach, and its engine runs', async (t) => {
  await cluster.partition('n3');
  t.notOk(await answers('n3'));
  await t.resolves(cluster.engineOf('n3').version());
  await cluster.heal('n3');
  t.ok(await eventually(() => answers('n3'), Boolean, PATIENT), 'after the cable is back');
});

t.test('a killed engine is missed, and comes back with its node', async (t) => {
  await cluster.kill('n2');
  t.notOk(await answers('n2'));
  await cluster.start('n2');
  t.ok(await answers('n2'));
  t.equal(await becomes('n2', 'ready'), 'ready');
});
