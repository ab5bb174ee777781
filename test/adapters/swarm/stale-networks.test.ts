import t from 'tap';
import { swarmHealth } from '../../../src/adapters/swarm/insight/swarm-health.ts';
import { aSpec } from '../../support/engine/container.ts';
import { waitFor } from '../../support/patience.ts';
import { runtimeOn, standInSwarm } from '../../support/swarm/stand-in.ts';

const IMAGE = 'registry.example/box:1';
const SECOND = 'n2n2n2n2n2n2n2n2n2n2n2n2n';

t.test('a node that kept a network from its crash is a fault, and the last choice', async (t) => {
  const [one, two] = [await standInSwarm(t), await standInSwarm(t, SECOND)];
  one.otherNodes.push({
    ID: SECOND,
    Version: { Index: 1 },
    Spec: { Availability: 'active' },
    Status: { State: 'ready', Addr: '203.0.113.2' },
    Description: {
      Hostname: 'two',
      Platform: { Architecture: 'x86_64' },
      Resources: { NanoCPUs: 4e9, MemoryBytes: 4e9 },
    },
  });
  const addresses = { template: two.url, byNode: { [one.nodeId]: one.url }, certPath: null };
  const staleNodes = new Map<string, number>();
  const { swarm, ...runtime } = runtimeOn(one, { addresses, staleNodes });
  const nodesOfVolumes = () => [...one.configs.values()].map(({ Labels }) => Labels?.['berth.node']);
  const handle = await runtime.create(aSpec(IMAGE));
  t.same((await swarmHealth(swarm)).faults, []);

  Object.assign(one.behaviour, { taskState: 'rejected', taskError: 'network q6fg exists' });
  await t.rejects(runtime.start(handle), { message: /docs.swarm\.md#after-a-crash-of-a-node/ });
  t.match(await swarmHealth(swarm), {
    detail: /^2 nodes, 1 in use/,
    faults: [{ words: /^containers cannot start on one: since its crash/, mend: /local-kv\.db/ }],
  });
  await runtime.create(aSpec(IMAGE));
  t.same(nodesOfVolumes(), [one.nodeId, SECOND]);

  const { swarm: later } = runtimeOn(one, { addresses, staleNodes });
  t.equal((await swarmHealth(later)).faults.length, 1, 'also over another connection');

  one.behaviour.joins += 1;
  await waitFor(async () => (await swarmHealth(swarm)).faults.length === 0);

  await t.rejects(runtime.start(handle), { name: 'StaleNetwork' });
  t.equal((await swarmHealth(swarm)).faults.length, 1, 'its engine was restarted, and still has it');
  one.behaviour.taskState = 'running';
  await runtime.start(handle);
  t.same((await swarmHealth(swarm)).faults, [], 'a container has started');
});
