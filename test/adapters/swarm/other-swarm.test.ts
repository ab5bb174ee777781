import t, { type Test } from 'tap';
import { aSpec } from '../../support/engine/container.ts';
import { runtimeOn, standInSwarm } from '../../support/swarm/stand-in.ts';

const TOOLS = 'registry.example/tools:1';

/** A process whose manager joins another swarm, which has nothing of this installation. */
async function scene(t: Test, toolsImage: string | null = null) {
  const manager = await standInSwarm(t);
  const runtime = runtimeOn(manager, { toolsImage, swarmId: manager.behaviour.swarmId });
  const joinAnother = (): void => {
    manager.behaviour.swarmId = 'another';
    for (const things of [manager.services, manager.configs]) things.clear();
    manager.tasks.splice(0);
  };
  return { manager, ...runtime, joinAnother };
}

t.test('the nodes of another swarm get no rules', async (t) => {
  const { manager, swarm, joinAnother } = await scene(t, TOOLS);
  joinAnother();
  await t.rejects(swarm.firewalls.assertAll(), { name: 'OtherSwarm' });
  t.same(manager.execs, []);
});

t.test('what a manager of another swarm lacks is not taken for gone', async (t) => {
  const { swarm, joinAnother, ...runtime } = await scene(t);
  const spec = aSpec('an-image');
  const handle = await runtime.create(spec);
  await runtime.start(handle);
  const record = await swarm.records.require(handle.runtimeId);
  joinAnother();
  const { records, services, volumes, manager } = swarm;
  const asks: Readonly<Record<string, () => Promise<unknown>>> = {
    'a container': () => runtime.observe(handle),
    containers: () => runtime.list(),
    'the container of a volume': () => records.useVolume(spec.volume),
    'a container that ends': () => services.end(record),
    'the tasks of a container': () => manager.tasks(record.name),
    'a container to remove': () => manager.removeService(record.name),
    'a volume': () => volumes.facts(spec.volume),
    'a volume to remove': () => runtime.removeVolume(spec.volume),
    'the node of a volume': () => manager.config(spec.volume),
    'the nodes of volumes': () => manager.configs({}),
    'the node of a volume to remove': () => manager.removeConfig(spec.volume),
  };
  for (const [what, ask] of Object.entries(asks)) await t.rejects(ask(), { name: 'OtherSwarm' }, what);
});
