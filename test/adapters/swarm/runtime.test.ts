import t, { type Test } from 'tap';
import type { Service, ServiceSpec, Task } from '../../../src/adapters/swarm/client/objects.ts';
import { hasEnded, scaleDownEnded } from '../../../src/adapters/swarm/containers/ended-services.ts';
import { aSpec } from '../../support/engine/container.ts';
import { eventually, waitFor, waitForValue } from '../../support/patience.ts';
import { runtimeOn, standInSwarm } from '../../support/swarm/stand-in.ts';

const IMAGE = 'registry.example/box:1';

const PATIENT = { startSeconds: 10, endSeconds: 10 };
const HASTY = { startSeconds: 0.3, endSeconds: 0.3 };

async function scene(t: Test, patience = PATIENT) {
  const swarm = await standInSwarm(t);
  /** Of another process, which knows nothing yet. */
  const another = () => runtimeOn(swarm, { patience });
  const spec = aSpec(IMAGE, { env: { GIVEN: 'a {{.Node.ID}}' } });
  return { ...swarm, runtime: another(), another, spec };
}

/** One that has been started. */
async function started(t: Test, patience = PATIENT) {
  const made = await scene(t, patience);
  const handle = await made.runtime.create(made.spec);
  await made.runtime.start(handle);
  return { ...made, handle };
}

const onlyService = (services: ReadonlyMap<string, Service>) => [...services.values()][0] as Service;

/** Changes the first service from outside. */
function change(services: Map<string, Service>, to: (spec: ServiceSpec) => Partial<ServiceSpec>): void {
  const service = onlyService(services);
  services.set(service.Spec.Name, { ...service, Spec: { ...service.Spec, ...to(service.Spec) } });
}

t.test('a container is a service without a task, pinned to the node of its volume', async (t) => {
  const { runtime, spec, services, volumes, configs, tasks } = await scene(t);
  await runtime.create(spec);
  t.match(onlyService(services), {
    Spec: {
      Mode: { Replicated: { Replicas: 0 } },
      EndpointSpec: { Mode: 'dnsrr' },
      TaskTemplate: {
        RestartPolicy: { Condition: 'none' },
        Placement: { Constraints: ['node.id==n1n1n1n1n1n1n1n1n1n1n1n1n'] },
        Resources: { Limits: { NanoCPUs: 2e9, MemoryBytes: 512 * 1024 ** 2, Pids: 512 } },
        ContainerSpec: {
          Image: /^sha256:/,
          Env: ['LANG=C.UTF-8', 'GIVEN={{"a {{.Node.ID}}"}}', 'HOME=/workspace'],
          Init: true,
          CapabilityDrop: ['ALL'],
          Privileges: { NoNewPrivileges: true },
        },
      },
    },
  });
  t.match(volumes.get(spec.volume), { Labels: { 'berth.instance': 'an-installation' } });
  t.equal(configs.size, 1, 'all managers know where the volume is');
  t.equal(tasks.length, 0);
});

t.test('a start raises the number of the start with the replica, and is repeatable', async (t) => {
  const { runtime, spec, services, tasks, end, behaviour } = await scene(t);
  const handle = await runtime.create(spec);
  behaviour.overtaken = 2;
  await Promise.all([runtime.start(handle), runtime.start(handle)]);
  await runtime.start(handle);
  t.equal(tasks.length, 1, 'one task for all of them');
  t.match(onlyService(services).Spec, {
    Mode: { Replicated: { Replicas: 1 } },
    TaskTemplate: { ForceUpdate: 1 },
  });
  // Its first program has ended: the service still asks for a task, and gets none by itself.
  end(tasks[0]?.Status.ContainerStatus?.ContainerID, 'failed', 3);
  t.match(await runtime.observe(handle), { kind: 'stopped', exitCode: 3 });
  await runtime.start(handle);
  t.equal(onlyService(services).Spec.TaskTemplate.ForceUpdate, 2);
  t.equal(await runtime.stop(handle, 1), 'stopped');
  t.equal(onlyService(services).Spec.Mode.Replicated.Replicas, 0);
});

t.test('only Berth starts a container whose program has ended', async (t) => {
  const { runtime, spec, services, tasks, end } = await scene(t);
  const handle = await runtime.create(spec);
  const other = await runtime.create(aSpec(IMAGE));
  await runtime.start(handle);
  await runtime.start(other);
  end(tasks[0]?.Status.ContainerStatus?.ContainerID, 'failed', 3);
  const replicas = () => [...services.values()].map(({ Spec }) => Spec.Mode.Replicated.Replicas);
  await waitForValue(
    async () => {
      await runtime.list();
      return replicas();
    },
    ([first]) => first === 0,
  );
  t.same(replicas(), [0, 1], 'the other one runs');
  await runtime.start(handle);
  t.same(replicas(), [1, 1]);
  t.equal(tasks.length, 2);
});

t.test('a service that the swarm does not change holds up no other', async (t) => {
  const { runtime, spec, services, tasks, end, behaviour } = await scene(t);
  await runtime.start(await runtime.create(spec));
  await runtime.start(await runtime.create(aSpec(IMAGE)));
  behaviour.stuckService = [...services.keys()][0] ?? null;
  for (const { Status } of [...tasks]) end(Status.ContainerStatus?.ContainerID, 'failed', 3);
  const replicas = () => [...services.values()].map(({ Spec }) => Spec.Mode.Replicated.Replicas);
  await waitForValue(
    async () => {
      await runtime.list();
      return replicas();
    },
    ([, second]) => second === 0,
  );
  t.same(replicas(), [1, 0]);
});

t.test('a service counts as ended when its last task ended, or never came', async (t) => {
  const service = (updatedAgoMs: number): Service => ({
    ID: 'one',
    Version: { Index: 1 },
    UpdatedAt: new Date(Date.now() - updatedAgoMs).toISOString(),
    Spec: {
      Name: 'one',
      Labels: {},
      Mode: { Replicated: { Replicas: 1 } },
      TaskTemplate: { ForceUpdate: 2, ContainerSpec: { Image: 'box', Mounts: [] } },
    },
  });
  const task = (State: string, ForceUpdate = 2): Task => ({
    ID: State,
    CreatedAt: '',
    DesiredState: 'shutdown',
    Spec: { ForceUpdate },
    Status: { State, Timestamp: '' },
  });
  const [now, longAgo] = [0, 600_000];
  const cases: readonly [string, number, readonly Task[], boolean][] = [
    ['its task has ended', now, [task('failed'), task('complete', 1)], true],
    ['its task starts', longAgo, [task('preparing')], false],
    ['its node is lost', longAgo, [task('orphaned')], false],
    ['its node is lost, and an earlier task ended', longAgo, [task('orphaned', 1), task('failed')], false],
    ['an earlier task is being ended', now, [task('failed'), task('running', 1)], false],
    ['the task is being made', now, [task('complete', 1)], false],
    ['no task was made, or it is forgotten', longAgo, [task('complete', 1)], true],
  ];
  for (const [what, agoMs, tasks, ended] of cases) t.equal(hasEnded(service(agoMs), tasks), ended, what);
  const lost = [task('orphaned')];
  t.equal(hasEnded(service(now), lost, true), true, 'its node has nothing of it');
  t.equal(hasEnded(service(now), [task('orphaned', 1)], true), false, 'the next task is being made');
});

t.test('no task is made while an earlier one may still run', async (t) => {
  const { runtime, handle, services, tasks } = await started(t, HASTY);
  // Scaled down from outside; its node has not reported the end.
  change(services, () => ({ Mode: { Replicated: { Replicas: 0 } } }));
  await t.rejects(runtime.start(handle), { name: 'RuntimeBusy', code: 'container_unresponsive' });
  t.equal(tasks.length, 1);
});

t.test('a start waits until the swarm has removed the tasks of a stop', async (t) => {
  const { runtime, handle, tasks, requests, behaviour } = await started(t);
  behaviour.removesTasks = false;
  await runtime.stop(handle, 1);
  t.match(tasks, [{ DesiredState: 'remove', Status: { State: 'complete' } }]);
  const looks = () => requests.filter((path) => path.startsWith('/tasks')).length;
  const before = looks();
  const starting = runtime.start(handle);
  await waitFor(() => looks() > before + 3 || tasks.length > 1);
  t.equal(tasks.length, 1, 'none beside it');
  tasks.length = 0;
  await starting;
  t.match(tasks, [{ DesiredState: 'running', Spec: { ForceUpdate: 2 } }]);
});

t.test('a start of a container whose program has ended removes its task first', async (t) => {
  const { runtime, handle, services, tasks, end, behaviour } = await started(t);
  behaviour.removesTasks = false;
  end(tasks[0]?.Status.ContainerStatus?.ContainerID, 'failed', 3);
  const starting = runtime.start(handle);
  await waitFor(() => tasks.length > 1 || onlyService(services).Spec.Mode.Replicated.Replicas === 0);
  t.match(tasks, [{ DesiredState: 'remove' }]);
  t.equal(tasks.length, 1, 'none beside it');
  tasks.length = 0;
  await starting;
  t.match(tasks, [{ DesiredState: 'running', Spec: { ForceUpdate: 2 } }]);
});

t.test('a lost node is waited for', async (t) => {
  const { runtime: before, another, spec, tasks, behaviour } = await scene(t);
  const handle = await before.create(spec);
  const other = await before.create(aSpec(IMAGE));
  await before.start(handle);
  behaviour.nodeState = 'down';
  const runtime = another();
  t.match(await runtime.observe(handle), { kind: 'running', isSilent: true }, 'as last seen');
  const listed = await runtime.list();
  t.match(
    listed.map(({ isSilent }) => isSilent),
    [true, true],
  );
  t.same(await runtime.observe(other), { kind: 'stopped', exitCode: 0 });
  await t.rejects(runtime.start(other), { name: 'RuntimeBusy', code: 'container_unresponsive' });
  t.equal(tasks.length, 1);
  await t.rejects(runtime.create(aSpec(IMAGE)), { name: 'EngineFull' });
});

/** Sets what the swarm knows of the only task. */
function reported(tasks: Task[], State: string, DesiredState: string): void {
  const [task] = tasks;
  if (task === undefined) throw new Error('no task');
  tasks[0] = { ...task, DesiredState, Status: { ...task.Status, State } };
}

t.test('a task that is being ended is no start, and is waited for', async (t) => {
  const { runtime, handle, tasks, end } = await started(t);
  // As after the return of a node that was lost for minutes.
  reported(tasks, 'running', 'shutdown');
  t.match(await runtime.observe(handle), { kind: 'running', isEnding: true });
  const starting = runtime.start(handle);
  await waitForValue(
    () => runtime.observe(handle),
    ({ kind }) => kind === 'running',
  );
  t.equal(tasks.length, 1, 'not beside it');
  end(tasks[0]?.Status.ContainerStatus?.ContainerID, 'shutdown');
  await starting;
  t.match(tasks, [{ Spec: { ForceUpdate: 2 } }]);
  t.strictSame(await runtime.observe(handle), {
    kind: 'running',
    startedAt: new Date(tasks[0]?.Status.Timestamp ?? 0),
  });
});

t.test('what became of a task of a node that was away for a day, the node knows', async (t) => {
  const { runtime, handle, tasks, containers } = await started(t);
  reported(tasks, 'orphaned', 'shutdown');
  t.match(await runtime.observe(handle), { kind: 'running', isEnding: true });
  await t.rejects(runtime.start(handle), { name: 'RuntimeBusy', code: 'container_unresponsive' });
  containers.length = 0;
  t.same(await runtime.observe(handle), { kind: 'stopped', exitCode: 137 });
  await runtime.start(handle);
  t.match(tasks, [{ Status: { State: 'running' }, Spec: { ForceUpdate: 2 } }]);
});

t.test('a lost task is asked about once a minute, until its node no longer runs it', async (t) => {
  const { runtime, services, tasks, containers, requests, end } = await started(t);
  const spec = aSpec(IMAGE);
  await runtime.start(await runtime.create(spec));
  reported(tasks, 'orphaned', 'shutdown');
  const [first = ''] = services.keys();
  const questions = () => requests.filter((path) => path.startsWith('/tasks') && path.includes(first)).length;
  const replicas = () => [...services.values()].map(({ Spec }) => Spec.Mode.Replicated.Replicas);
  const listUntil = (isDone: () => boolean) =>
    eventually(async () => {
      await runtime.list();
      return isDone();
    }, Boolean);
  const before = questions();
  await listUntil(() => questions() > before);
  // A pass asks about the services in their order.
  end(tasks[1]?.Status.ContainerStatus?.ContainerID, 'failed', 3);
  await listUntil(() => replicas()[1] === 0);
  t.equal(questions(), before + 1);
  t.equal(replicas()[0], 1, 'its node still runs it');

  containers.length = 0;
  const { now } = performance;
  t.intercept(performance, 'now', { value: () => now.call(performance) + 60_000 });
  await listUntil(() => replicas()[0] === 0);
  t.equal(questions(), before + 2);
});

t.test('a lost task does not delay the check of the next start', async (t) => {
  const { runtime, tasks, services } = await started(t);
  reported(tasks, 'orphaned', 'shutdown');
  const { manager, records } = runtime.swarm;
  const [record] = await records.list();
  if (record === undefined) throw new Error('there is one');
  const asked: number[] = [];
  const scaleDown = scaleDownEnded(manager, async ({ starts }) => {
    asked.push(starts);
    return starts === record.starts;
  });
  for (const starts of [record.starts, record.starts + 1])
    await waitFor(() => {
      scaleDown([{ ...record, starts }]);
      return asked.includes(starts);
    });
  await waitFor(() => onlyService(services).Spec.Mode.Replicated.Replicas === 0);
});

t.test('a silent node is asked once in a pass, and does not delay other nodes', async (t) => {
  const { runtime, services, tasks } = await started(t);
  for (let count = 0; count < 2; count += 1) await runtime.start(await runtime.create(aSpec(IMAGE)));
  tasks.splice(0, 3, ...tasks.map((task) => ({ ...task, Status: { ...task.Status, State: 'orphaned' } })));
  const { manager, records } = runtime.swarm;
  const [first, second, third] = await records.list();
  if (first === undefined || second === undefined || third === undefined) throw new Error('there are three');
  const asked: string[] = [];
  const silence = Promise.withResolvers<boolean>();
  const scaleDown = scaleDownEnded(manager, ({ nodeId }) => {
    asked.push(nodeId);
    return nodeId.startsWith('silent') ? silence.promise : Promise.resolve(false);
  });
  const isStopped = ({ name }: { readonly name: string }) =>
    services.get(name)?.Spec.Mode.Replicated.Replicas === 0;
  const onSilentNodes = Array.from({ length: 9 }, (_, at) => ({
    ...first,
    nodeId: `silent ${at}`,
    starts: at,
  }));
  scaleDown([{ ...first, nodeId: 'silent' }, { ...second, nodeId: 'silent' }, ...onSilentNodes]);
  await waitFor(() => asked.includes('silent'));
  scaleDown([third]);
  await waitFor(() => isStopped(third));
  silence.reject(new Error('no answer'));
  await waitFor(() => {
    scaleDown([{ ...second, nodeId: 'another', starts: 2 }]);
    return isStopped(second);
  });
  t.equal(asked.filter((nodeId) => nodeId === 'silent').length, 1);
});

t.test('a service whose task the swarm has forgotten is asked for another', async (t) => {
  const { runtime, handle, services, tasks, containers } = await started(t);
  tasks.length = 0;
  containers.length = 0;
  t.match(await runtime.observe(handle), { kind: 'stopped' });
  await runtime.start(handle);
  t.equal(onlyService(services).Spec.TaskTemplate.ForceUpdate, 2);
});

t.test('all containers are listed, also when they are too many for one answer', async (t) => {
  const { runtime, behaviour } = await scene(t);
  behaviour.longestList = 3;
  const made = await Promise.all(Array.from({ length: 6 }, async () => await runtime.create(aSpec(IMAGE))));
  const ids = (all: readonly { readonly runtimeId: string }[]) =>
    all.map(({ runtimeId }) => runtimeId).sort();
  t.same(ids((await runtime.list()).map(({ handle }) => handle)), ids(made));
});

t.test('a label that was changed from outside hides one container, not all', async (t) => {
  const { runtime, spec, services } = await scene(t);
  await runtime.create(spec);
  const other = await runtime.create(aSpec(IMAGE));
  change(services, ({ Labels }) => ({ Labels: { ...Labels, 'berth.resources': '{' } }));
  t.match(await runtime.list(), [{ handle: other }]);
});

t.test('a start on a volume that is gone makes no empty one', async (t) => {
  const { runtime, spec, tasks, volumes } = await scene(t);
  const handle = await runtime.create(spec);
  volumes.clear();
  await t.rejects(runtime.start(handle), { name: 'RuntimeFailure', message: /is not on its node/ });
  t.equal(tasks.length, 0);
});

t.test('a start names the image that its node has now', async (t) => {
  const { runtime, spec, services, images } = await scene(t);
  const handle = await runtime.create(spec);
  const [made] = images.splice(0, 1, `sha256:${'2'.repeat(64)}`);
  t.match(onlyService(services).Spec.TaskTemplate, { ContainerSpec: { Image: made } });
  await runtime.start(handle);
  t.match(onlyService(services).Spec.TaskTemplate, { ContainerSpec: { Image: images[0] } });
});

t.test('another generation does not start beside a running one', async (t) => {
  const { runtime, spec, tasks } = await started(t);
  const next = await runtime.create({ ...spec, generation: 2 });
  await t.rejects(runtime.start(next), { name: 'RuntimeFailure', message: /another container/ });
  t.equal(tasks.length, 1);
});

t.test('a task that does not start is given up', async (t) => {
  const { runtime, spec, services, behaviour } = await scene(t, HASTY);
  const handle = await runtime.create(spec);
  Object.assign(behaviour, { taskState: 'rejected', taskError: 'No such image: sha256:1111' });
  await t.rejects(runtime.start(handle), { name: 'ImageUnavailable' });
  t.equal(onlyService(services).Spec.Mode.Replicated.Replicas, 0);
  Object.assign(behaviour, { taskState: 'pending', taskError: 'no suitable node' });
  await t.rejects(runtime.start(handle), { name: 'EngineFull', message: /no suitable node/ });
});

t.test('a container does not run unless it is seen to gain no privileges', async (t) => {
  const { runtime, spec, services, behaviour } = await scene(t);
  const handle = await runtime.create(spec);
  // As engines before 25 answer; the stand-in runs no program that would look inside.
  behaviour.securityOptions = null;
  await t.rejects(runtime.start(handle), { name: 'RuntimeFailure' });
  t.equal(onlyService(services).Spec.Mode.Replicated.Replicas, 0);
});

t.test('new limits are those of the running container, and of its next start', async (t) => {
  const { runtime, spec, handle, tasks, containers } = await started(t);
  await runtime.resize(handle, { ...spec.resources, memoryMb: 256 });
  t.equal(tasks.length, 1, 'in place');
  t.equal(containers.find(({ State }) => State === 'running')?.Memory, 256 * 1024 ** 2);
  await runtime.stop(handle, 1);
  await runtime.start(handle);
  t.equal(containers.at(-1)?.Memory, 256 * 1024 ** 2);
});

t.test('a volume is removed only without a container, and its record last', async (t) => {
  const { runtime, spec, handle, volumes, configs } = await started(t);
  await t.rejects(runtime.removeVolume(spec.volume), { name: 'RuntimeFailure' });
  await runtime.remove(handle);
  t.match(await runtime.observe(handle), { kind: 'gone' });
  t.equal(await runtime.volumeExists(spec.volume), true);
  await runtime.removeVolume(spec.volume);
  t.same([volumes.size, configs.size], [0, 0]);
});
