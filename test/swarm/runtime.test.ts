import t from 'tap';
import type { RuntimeHandle } from '../../src/ports/containers/container-runtime.ts';
import { containerDiskContract } from '../contract/containers/container-disk.ts';
import { containerRuntimeContract } from '../contract/containers/container-runtime.ts';
import { poolMemberContract } from '../contract/containers/warm-pool.ts';
import { aSpec, shellIn, started } from '../support/engine/container.ts';
import { hintsOf } from '../support/hints.ts';
import { eventually } from '../support/patience.ts';
import { swarmCluster } from '../support/swarm/cluster.ts';
import { swarmScene } from '../support/swarm/swarm-scene.ts';
import { taskContainers } from '../support/swarm/task-containers.ts';
import { watchTasks } from '../support/swarm/task-witness.ts';

const MIB = 1024 * 1024;
const LISTEN = 'my $s = IO::Socket::INET->new(Listen => 5, LocalPort => 4000) or exit 1; sleep 60';
const CONNECT = 'print IO::Socket::INET->new(PeerAddr => $ARGV[0], Timeout => 3) ? "open" : $!';
const cluster = swarmCluster();
const witness = watchTasks(t, cluster);
const { swarm, runtime, restarted, commands, image, instanceId } = await swarmScene(t, cluster);
const manager = cluster.engineOf();

/** The services of a container, as the Swarm has them. */
const servicesOf = (dbId: string) =>
  manager.listServices({ filters: { label: [`berth.instance=${instanceId}`, `berth.db_id=${dbId}`] } });

async function discard(handle: RuntimeHandle, volume: string): Promise<void> {
  await runtime.remove(handle);
  await runtime.removeVolume(volume);
}

await containerRuntimeContract('a real Swarm', { runtime, image });
await containerDiskContract('a real Swarm', { runtime, image });
await poolMemberContract('a real Swarm', { runtime, image });

t.test('a container is confined as by Docker', async (t) => {
  const spec = aSpec(image);
  const handle = await started(t, runtime, spec);
  const sh = shellIn(commands, handle);
  const status = await sh('cat /proc/self/status');
  t.match(status, /NoNewPrivs:\t1/);
  t.match(status, /Seccomp:\t2/);
  // CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID and SETUID.
  t.match(status, /CapBnd:\t00000000000000fb/);
  t.match(await sh('ulimit -c; ulimit -n'), /^0\n\d+$/);
  t.match(await sh('df -k /dev/shm | tail -n 1'), /65536/);
  const [task] = await taskContainers(cluster, spec.dbId);
  const { HostConfig } = (await task?.engine.getContainer(task.id).inspect()) ?? {};
  t.match(HostConfig, {
    Memory: 512 * MIB,
    MemorySwap: 512 * MIB,
    NanoCpus: 2e9,
    PidsLimit: 512,
    Init: true,
  });
  t.same(HostConfig?.PortBindings ?? {}, {});
});

t.test('containers of one node do not reach each other, nor their node', async (t) => {
  const specs = [aSpec(image), aSpec(image), aSpec(image), aSpec(image)];
  const handles = await Promise.all(specs.map((spec) => runtime.create(spec)));
  for (const handle of handles) await runtime.start(handle);
  await swarm.firewalls.assertAll();
  const placed = await Promise.all(specs.map(async ({ dbId }) => (await taskContainers(cluster, dbId))[0]));
  const byNode = Map.groupBy(handles, (_, at) => placed[at]?.node);
  const [one, other] = [...byNode.values()].find(({ length }) => length > 1) ?? [];
  t.ok(one && other, 'four containers on three nodes');
  if (one && other) {
    const inOther = shellIn(commands, other);
    const address = await inOther('hostname -I');
    await inOther(`setsid perl -MIO::Socket::INET -e '${LISTEN}' > /dev/null 2>&1 & sleep 0`);
    const reach = async (from: RuntimeHandle, target: string): Promise<string> =>
      await shellIn(commands, from)(`perl -MIO::Socket::INET -e '${CONNECT}' ${target}`);
    const isOpen = (answer: string): boolean => answer === 'open';
    t.equal(await eventually(() => reach(other, '127.0.0.1:4000'), isOpen), 'open', 'it listens');
    t.not(await reach(one, `${address}:4000`), 'open');
    for (const node of cluster.nodes) t.not(await reach(one, `${node.address}:2376`), 'open', node.name);
  }
  for (const [at, handle] of handles.entries()) await discard(handle, specs[at]?.volume ?? '');
});

t.test('new limits hold at once in the same container, and in the next one', async (t) => {
  const spec = aSpec(image);
  const handle = await started(t, runtime, spec);
  const [before] = await taskContainers(cluster, spec.dbId);
  await runtime.resize(handle, { ...spec.resources, memoryMb: 320, cpuMillicores: 500 });
  const limits = async () => {
    const [task] = await taskContainers(cluster, spec.dbId);
    const { HostConfig } = (await task?.engine.getContainer(task.id).inspect()) ?? {};
    return { id: task?.id, memory: HostConfig?.Memory, cpu: HostConfig?.NanoCpus };
  };
  t.same(await limits(), { id: before?.id, memory: 320 * MIB, cpu: 5e8 });
  await runtime.stop(handle, 1);
  await runtime.start(handle);
  t.match(await limits(), { memory: 320 * MIB, cpu: 5e8 });
  t.not((await limits()).id, before?.id);
});

t.test('a stop and a start at once, ten times, are never stuck', async (t) => {
  const spec = aSpec(image);
  const handle = await started(t, runtime, spec);
  for (let round = 0; round < 10; round += 1) {
    const stopping = runtime.stop(handle, 1);
    await runtime.start(handle).catch(() => undefined);
    await stopping;
    await runtime.start(handle);
    t.match(await runtime.observe(handle), { kind: 'running' }, `round ${round}`);
    t.equal((await taskContainers(cluster, spec.dbId)).length, 1);
  }
});

t.test('a service that others update meanwhile takes the update, too', async (t) => {
  const spec = aSpec(image);
  const handle = await started(t, runtime, spec);
  let isOver = false;
  /** Another administrator's labels: each changes the version. */
  const others = async (): Promise<number> => {
    for (let round = 0; ; round += 1) {
      const [service] = await servicesOf(spec.dbId);
      if (isOver || service === undefined) return round;
      const body = { ...service.Spec, Labels: { ...service.Spec?.Labels, other: `${round}` } };
      await manager
        .getService(service.ID)
        .update({ version: service.Version?.Index, ...body } as never)
        .catch(() => {});
    }
  };
  const changing = others();
  await Promise.all([
    runtime.resize(handle, { ...spec.resources, memoryMb: 300 }),
    restarted().resize(handle, { ...spec.resources, memoryMb: 300 }),
  ]);
  await runtime.stop(handle, 1);
  await runtime.start(handle);
  isOver = true;
  t.ok((await changing) > 0);
  const [task] = await taskContainers(cluster, spec.dbId);
  t.equal((await task?.engine.getContainer(task.id).inspect())?.HostConfig.Memory, 300 * MIB);
});

t.test('a task removed from outside is stopped, hinted at, and started again', async (t) => {
  const spec = aSpec(image);
  const handle = await started(t, runtime, spec);
  await shellIn(commands, handle)('echo kept > /workspace/canary');
  const hints = hintsOf(t, runtime.watch);
  await hints.first();
  const [task] = await taskContainers(cluster, spec.dbId);
  await hints.after(() => task?.engine.getContainer(task.id).remove({ force: true }));
  const seen = await eventually(
    () => runtime.observe(handle),
    ({ kind }) => kind === 'stopped',
  );
  t.match(seen, { kind: 'stopped' });
  await runtime.start(handle);
  t.equal(await shellIn(commands, handle)('cat /workspace/canary'), 'kept');
});

t.test('only Berth starts a container whose program has ended', async (t) => {
  const spec = aSpec(image);
  const handle = await started(t, runtime, spec);
  const [task] = await taskContainers(cluster, spec.dbId);
  await task?.engine.getContainer(task.id).kill();
  const service = async () => {
    await runtime.list();
    return (await servicesOf(spec.dbId))[0];
  };
  const ended = await eventually(service, (each) => each?.Spec?.Mode?.Replicated?.Replicas === 0);
  t.equal(ended?.Spec?.Mode?.Replicated?.Replicas, 0);
  // As `docker service update --force` does.
  const { ID = '', Version, Spec } = ended ?? {};
  const TaskTemplate = { ...Spec?.TaskTemplate, ForceUpdate: 100 };
  await manager.getService(ID).update({ version: Version?.Index, ...Spec, TaskTemplate } as never);
  t.match(await runtime.observe(handle), { kind: 'stopped' });
  await runtime.start(handle);
  t.equal((await taskContainers(cluster, spec.dbId)).length, 1, 'one, of the start');
});

t.test('an image that nobody has is reported, and nothing is left', async (t) => {
  const spec = aSpec('registry.invalid/none:1');
  const made = await runtime.create(spec).then(
    async (handle) => {
      await t.rejects(runtime.start(handle), { name: 'ImageUnavailable' });
      return handle;
    },
    (error: unknown) => {
      t.match(error, { name: 'ImageUnavailable' });
      return null;
    },
  );
  if (made !== null) await runtime.remove(made);
  t.same(await servicesOf(spec.dbId), []);
  await runtime.removeVolume(spec.volume);
  t.equal(await runtime.volumeExists(spec.volume), false);
});

t.test('the volume of a container is on one node, and its next generation with it', async (t) => {
  const spec = aSpec(image);
  const first = await runtime.create(spec);
  await runtime.start(first);
  const [before] = await taskContainers(cluster, spec.dbId);
  await shellIn(commands, first)('echo kept > /workspace/canary');
  const next = await runtime.create({ ...spec, generation: 2 });
  await t.rejects(runtime.start(next), 'while the first one runs');
  await runtime.stop(first, 1, 'ended');
  await runtime.start(next);
  const [after] = await taskContainers(cluster, spec.dbId);
  t.equal(after?.node, before?.node);
  t.equal(await shellIn(commands, next)('cat /workspace/canary'), 'kept');
  await runtime.remove(first);
  await discard(next, spec.volume);
});

t.test('never two tasks of one container', async (t) => {
  t.ok(witness.seen() > 0);
  t.same(witness.faults(), []);
});
