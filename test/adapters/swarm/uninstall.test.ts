import t from 'tap';
import { dockerAt } from '../../../src/adapters/docker/engine/engine-client.ts';
import { COUNTED } from '../../../src/adapters/docker/volumes/container-volumes.ts';
import { swarmRuntime } from '../../../src/adapters/swarm/containers/container-runtime.ts';
import { openSwarm } from '../../../src/adapters/swarm/swarm.ts';
import { swarmLeftovers } from '../../../src/adapters/swarm/uninstall/swarm-leftovers.ts';
import { aSpec } from '../../support/engine/container.ts';
import { standInSwarm } from '../../support/swarm/stand-in.ts';

const IMAGE = 'registry.example/box:1';

t.test('an installation is removed from a swarm, and nothing of another one', async (t) => {
  const one = await standInSwarm();
  t.teardown(one.close);
  const docker = dockerAt(one.address);
  const addresses = { template: `http://127.0.0.1:${one.address.port}`, byNode: {}, certPath: null };
  const install = async (instanceId: string) => {
    const swarm = openSwarm(docker, {
      instanceId,
      node: 'local',
      addresses,
      disk: COUNTED,
      processLimits: { nofile: 1024, sigpending: 1024, msgqueue: 1024, memlock: 1024 },
      toolsImage: null,
    });
    const runtime = swarmRuntime(swarm);
    await runtime.start(await runtime.create(aSpec(IMAGE)));
    return runtime;
  };
  const things = () => [one.services, one.configs, one.volumes, one.networks].map(({ size }) => size);
  const other = await install('another-installation');
  const others = things();
  await install('an-installation');
  const { count } = swarmLeftovers(docker, addresses, 'an-installation');
  t.same(await count(), { containers: 1, volumes: 1 });

  const everywhere = things();
  one.otherNodes.push({
    ID: 'n2n2n2n2n2n2n2n2n2n2n2n2n',
    Spec: { Availability: 'active' },
    Status: { State: 'down', Addr: '127.0.0.1' },
    Description: { Hostname: 'two' },
  });
  const asked = () => swarmLeftovers(docker, addresses, 'an-installation');
  await t.rejects(asked().count(), { message: /the node two .*docker node rm --force two/ });
  t.same(things(), everywhere);

  one.otherNodes.length = 0;
  t.same(await asked().remove(), []);
  t.same(things(), others);
  t.match(await other.list(), [{ state: 'running' }]);
  t.same(await asked().count(), { containers: 0, volumes: 0 });
  t.same(await asked().remove(), [], 'it may be repeated');
});
