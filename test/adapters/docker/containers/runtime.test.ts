import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import t, { type Test } from 'tap';
import { dockerAccess } from '../../../../src/adapters/docker/container-access.ts';
import {
  containerName,
  earlierName,
  hostnameInside,
} from '../../../../src/adapters/docker/containers/container-names.ts';
import { dockerRuntime } from '../../../../src/adapters/docker/containers/container-runtime.ts';
import { createOptions } from '../../../../src/adapters/docker/containers/create-options.ts';
import { runtimeSettings } from '../../../../src/adapters/docker/containers/runtime-settings.ts';
import { dockerAt, engineCalls } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { lossReport } from '../../../../src/domain/containers/layer/loss-report.ts';
import type {
  RuntimeHandle,
  ContainerSpec as Spec,
} from '../../../../src/ports/containers/container-runtime.ts';
import { containerDiskContract } from '../../../contract/containers/container-disk.ts';
import {
  containerRuntimeContract,
  pausedContainerContract,
} from '../../../contract/containers/container-runtime.ts';
import { containerSnapshotsContract } from '../../../contract/containers/container-snapshots.ts';
import { volumeCopiesContract } from '../../../contract/containers/snapshots/volume-copies.ts';
import { aSpec, runIn, shellIn } from '../../../support/engine/container.ts';
import {
  canRunLxcfs,
  engineAt,
  engineOrSkip,
  showsLimits,
  type TestInstance,
  testInstance,
} from '../../../support/engine/engine.ts';
import { eventually, waitFor } from '../../../support/patience.ts';

type Box = TestInstance & {
  readonly spec: Spec;
  readonly handle: RuntimeHandle;
  readonly sh: (script: string) => Promise<string>;
};

/** In MB and cores, as `free`, `top` and language runtimes read them. */
const SEEN = `awk '/^MemTotal/ { print $2 / 1024 }' /proc/meminfo
free -m | awk '/^Mem/ { print $2 } /^Swap/ { print $2 }'
grep -c ^processor /proc/cpuinfo
grep -c '^cpu[0-9]' /proc/stat
getconf _NPROCESSORS_ONLN
nproc`;

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  const { docker, runtime, commands, image } = instance;
  const pause = ({ runtimeId }: RuntimeHandle) => docker.getContainer(runtimeId).pause();
  await containerRuntimeContract('docker', instance);
  await pausedContainerContract('docker', { ...instance, pause });
  await containerDiskContract('docker', instance);
  await containerSnapshotsContract('docker', instance);
  await volumeCopiesContract('docker', instance);
  const [spec, other] = ['w-alice', 'w-bob'].map((hostname) => aSpec(image, { hostname })) as [Spec, Spec];
  const handle = await runtime.create(spec);
  const box: Box = { ...instance, spec, handle, sh: shellIn(commands, handle) };
  await t.test('what belongs to another installation is refused', (t) => ownership(t, box));
  await runtime.start(handle);
  await t.test('a container is confined', (t) => confinement(t, box));
  const elsewhere = (await engineAt(engine.endpoint)).docker;
  await t.test('pauses and starts of two processes of Berth', (t) => pausesApart(t, box, elsewhere));
  const bob = await runtime.create(other);
  await runtime.start(bob);
  const neighbour: Box = { ...instance, spec: other, handle: bob, sh: shellIn(commands, bob) };
  await t.test('a container cannot ask for its neighbours by name', (t) => names(t, box, neighbour));
  await t.test('what differs from the image is told', (t) => changes(t, neighbour));
  await t.test('programs are asked to end before they are killed', (t) => stopping(t, box));
  await t.test('programs see the limits of their container', (t) => limitsSeen(t, instance));
  await t.test('a program ended for memory is counted', (t) => endedForMemory(t, instance));
  await t.test('a copy that a killed process began ends before the next', (t) => copies(t, box));
  await t.test('a container of an earlier version keeps its name and is found', (t) => earlier(t, instance));
}
await t.test('calls to a silent engine fail', unanswered);

/** One container copies into the same volume, as after a kill, another into its own. */
async function copies(t: Test, { docker, runtime, instanceId, image, spec }: Box): Promise<void> {
  const copy = async (volume: string) =>
    await runtime.copyVolume(spec.volume, { dbId: randomUUID(), volume, image, resources: spec.resources });
  const volumes = [`snap-${randomUUID()}`, `snap-${randomUUID()}`] as const;
  const begin = async (volume: string) => {
    await copy(volume);
    const made = await docker.createContainer({
      Image: image,
      Labels: { 'berth.passing': instanceId },
      Entrypoint: ['sleep', '3600'],
      HostConfig: { Mounts: [{ Type: 'volume', Source: volume, Target: '/to' }] },
    });
    await made.start();
    return made;
  };
  const [left, apart] = [await begin(volumes[0]), await begin(volumes[1])];
  await copy(volumes[0]);
  const gone = await left.inspect().catch((error: unknown) => error);
  t.match(gone, { statusCode: 404 });
  t.ok((await apart.inspect()).State.Running);
  await apart.remove({ force: true });
  for (const volume of volumes) await runtime.removeVolume(volume);
}

/** The container does not run yet. */
async function ownership(t: Test, { docker, runtime, instanceId, spec, handle }: Box): Promise<void> {
  const other = dockerRuntime(docker, {
    ...(await runtimeSettings(docker, { instanceId: 'another', network: 'bridge', node: 'test' })),
  });
  for (const work of [
    () => other.start(handle),
    async () => void (await other.stop(handle, 1)),
    () => other.remove(handle),
  ]) {
    await t.rejects(
      work,
      { name: 'RuntimeFailure', message: /does not belong/ },
      'another installation is refused',
    );
  }
  t.same(await other.observe(handle), { kind: 'gone' });
  t.same(await other.list(), []);
  await t.rejects(
    other.create(spec),
    { name: 'RuntimeFailure' },
    'neither its volume nor its name is taken over',
  );
  await t.rejects(other.removeVolume(spec.volume), { name: 'RuntimeFailure', message: /does not belong/ });
  t.same(await other.layerImages(), []);
  const prefix = { ...handle, runtimeId: handle.runtimeId.slice(0, 12) };
  const tries: (() => Promise<unknown>)[] = [
    () => runtime.start(prefix),
    () => runtime.observe(prefix),
    () => runtime.remove({ ...handle, runtimeId: containerName(instanceId, spec.dbId, 1) }),
  ];
  for (const work of tries) {
    await t.rejects(
      work,
      { name: 'ContainerNotRunning', isGone: true },
      'the engine never sees a prefix or a name',
    );
  }
  t.match(await runtime.observe(handle), { kind: 'stopped' }, 'it is still there');
  const info = await docker.getContainer(handle.runtimeId).inspect();
  t.equal(info.Name, `/${containerName(instanceId, spec.dbId, 1)}`);
  const volume = await docker.getVolume(spec.volume).inspect();
  t.match(volume.Labels, { 'berth.instance': instanceId, 'berth.db_id': spec.dbId });
  const foreign = `ws-${randomUUID()}`;
  await docker.createVolume({ Name: foreign });
  t.teardown(() => docker.getVolume(foreign).remove());
  await t.rejects(runtime.removeVolume(foreign), { name: 'RuntimeFailure', message: /does not belong/ });
  t.ok(await docker.getVolume(foreign).inspect(), 'nor is a volume of others removed');
}

async function stopping(t: Test, { docker, runtime, handle, sh }: Box): Promise<void> {
  await sh('echo kept > /etc/kept');
  await sh(
    `setsid sh -c 'trap "echo asked > /workspace/asked; exit" TERM; touch /tmp/obeys; while :; do sleep 0.1; done' >/dev/null 2>&1 &
    tmux new-session -d bash; until [ -e /tmp/obeys ]; do sleep 0.05; done`,
  );
  const { State } = await docker.getContainer(handle.runtimeId).inspect();
  await runtime.stop(handle, 60, 'ended');
  t.notOk(existsSync(`/proc/${State.Pid}`), 'no program runs when the stop returns');
  t.match(await runtime.observe(handle), { kind: 'stopped', exitCode: 0 }, 'it ended when they had');
  await runtime.start(handle);
  t.equal(await sh('cat /workspace/asked'), 'asked', 'programs are asked before they are killed');
  t.equal(await sh('cat /etc/kept'), 'kept', 'what was written outside the volume is there again');
  await sh(
    `setsid sh -c 'trap "" TERM HUP; touch /tmp/stays; while :; do sleep 0.1; done' >/dev/null 2>&1 &
    until [ -e /tmp/stays ]; do sleep 0.05; done`,
  );
  await runtime.stop(handle, 1);
  const killed = { kind: 'stopped', exitCode: 137 } as const;
  t.match(await runtime.observe(handle), killed, 'programs that do not obey are killed');
}

/** A pause during a start would block the container for ever. */
async function pausesApart(t: Test, { runtime, handle, instanceId }: Box, elsewhere: Docker): Promise<void> {
  let [isPausing, isOver] = [false, false];
  engineCalls(elsewhere).heedPauses(async () => isPausing);
  const { commands } = dockerAccess(elsewhere, instanceId);
  let ended = 0;
  const outcomes = new Set<string>();
  const startOneAfterTheOther = async (): Promise<void> => {
    while (!isOver) {
      await runIn(commands, handle, ['true']).catch(({ name }: Error) => outcomes.add(name));
      ended += 1;
    }
  };
  const all = Array.from({ length: 3 }, startOneAfterTheOther);
  for (let n = 1; n <= 2; n += 1) {
    await waitFor(() => ended >= 6 * n);
    isPausing = true;
    await runtime.pause(handle);
    t.equal((await runtime.observe(handle)).kind, 'paused');
    await runtime.resume(handle);
    isPausing = false;
  }
  isOver = true;
  await Promise.all(all);
  t.equal((await runtime.observe(handle)).kind, 'running');
  t.same(outcomes, new Set(['ContainerPaused']));
}

/** Besides the options that `createOptions` decides. */
async function confinement(t: Test, { docker, handle, kind, sh }: Box): Promise<void> {
  const { HostConfig: host } = await docker.getContainer(handle.runtimeId).inspect();
  t.ok((host.OomScoreAdj ?? -1) >= 0);
  t.ok((host.MaskedPaths ?? []).includes('/proc/kcore') && (host.ReadonlyPaths ?? []).includes('/proc/sys'));
  const status = await sh('cat /proc/self/status');
  t.match(status, /NoNewPrivs:\s+1/);
  t.match(status, /Seccomp:\s+2/, 'the default filter is on');
  t.match(status, /CapBnd:\s+00000000000000fb/, 'no other capability can be had');
  if (kind === 'private') {
    t.match(await sh('cat /proc/self/uid_map'), /^\s*0\s+[1-9]\d+\s/, 'root inside is nobody outside');
  }
  t.equal(await sh('ulimit -c'), '0');
  await t.rejects(sh('mount -t tmpfs x /mnt'));
  await t.rejects(sh('echo 1 > /proc/sys/kernel/sysrq'));
  await sh('i=0; while [ $i -lt 600 ]; do sleep 2 & i=$((i+1)); done 2>/dev/null; true').catch(() => {});
  const alive = () => sh('echo alive').catch(() => null);
  t.equal(await eventually(alive, Boolean, { everyMs: 200 }), 'alive', 'a fork bomb ends at the limit');
}

async function names(t: Test, alice: Box, bob: Box): Promise<void> {
  const { docker, network } = alice;
  const { dbId } = bob.spec;
  const info = await docker.getContainer(bob.handle.runtimeId).inspect();
  const address = info.NetworkSettings.Networks[network.name]?.IPAddress ?? '';
  t.match(address, /^\d/);
  const asked = ['w-bob', `w-bob.${network.name}`, earlierName(dbId, 1), `ws-${dbId}`, dbId];
  t.equal(
    await alice.sh(`for name in ${asked.join(' ')}; do getent hosts $name; done; :`),
    '',
    'none is known',
  );
  const reverse = await alice.sh(`getent hosts ${address}; :`);
  for (const known of ['w-bob', dbId, dbId.slice(0, 8)]) t.notMatch(reverse, known);

  t.equal(await bob.sh(`bash -c 'PS1="\\h"; echo "\${PS1@P}"'`), 'w-bob', 'its own prompt shows its name');
  t.match(await bob.sh('getent hosts "$(hostname)"'), address, 'and its own name leads to itself');
  const long = 'x'.repeat(64);
  t.match(
    hostnameInside('i', 'd', long),
    /^x{47}\.[0-9a-f]{16}$/,
    'the longest name fits into what the kernel takes',
  );
}

/** Before any change. */
async function changes(t: Test, { runtime, insight, handle, sh }: Box): Promise<void> {
  const files = async () => {
    // A busy engine may take too long, and the next time not.
    const changes = await eventually(
      () => insight.changes(handle),
      ({ complete }) => complete,
    );
    return lossReport(changes).files.map(({ path }) => path);
  };
  await sh('echo data > /workspace/data');
  t.same(await files(), [], 'what is on the volume is not lost');
  await sh('touch /opt/empty');
  t.same(await files(), ['/opt/empty'], 'one empty file is noticed');
  await sh('rm /opt/empty /etc/issue');
  t.same(await files(), ['/etc/issue'], 'and one that is missing');
  await runtime.stop(handle, 1);
  t.same(await files(), ['/etc/issue'], 'also of a stopped container');
}

async function limitsSeen(t: Test, instance: TestInstance): Promise<void> {
  const { docker, runtime, commands, image, kind } = instance;
  const isOwn = kind === 'private' && (await canRunLxcfs());
  if (isOwn) t.ok(await eventually(() => showsLimits(instance), Boolean), 'lxcfs runs');
  const machineMb = Math.floor(totalmem() / 2 ** 20);
  const machineCores = cpus().length;
  const [small, large] = [
    { memoryMb: 300, cpuMillicores: 500, diskMb: 512 },
    { memoryMb: 600, cpuMillicores: 1500, diskMb: 512 },
  ] as const;
  const fills = ({ cpuMillicores }: typeof small | typeof large): number =>
    Math.min(machineCores, Math.ceil(cpuMillicores / 1000));
  const check = async (handle: RuntimeHandle, has: typeof small | typeof large, says: string) => {
    const seen = (await shellIn(commands, handle)(SEEN)).split('\n').map(Number);
    const mb = isOwn ? has.memoryMb : machineMb;
    const cores = isOwn ? fills(has) : machineCores;
    const pinned = kind === 'private' ? fills(has) : machineCores;
    if (isOwn) t.same(seen, [mb, mb, 0, cores, cores, cores, pinned], says);
    else t.same(seen.slice(3), [cores, cores, cores, pinned], says);
    t.ok(Math.abs((seen[0] ?? 0) - mb) < 2, `${seen[0]} MB for ${mb}`);
  };
  const spec = aSpec(image, { resources: small });
  const other = aSpec(image, { resources: large });
  const [first, second] = [await runtime.create(spec), await runtime.create(other)];
  await Promise.all([runtime.start(first), runtime.start(second)]);
  await check(first, small, 'a small one');
  await check(second, large, 'a large one beside it');
  const CpusetCpus = `0-${machineCores - 1}`;
  if (kind === 'private') await docker.getContainer(first.runtimeId).update({ CpusetCpus });
  await instance.spreadCores();
  await check(first, small, 'one that was on all cores');
  await runtime.resize(first, large);
  await check(first, large, 'new limits while it runs');
  await runtime.stop(first, 1);
  await runtime.start(first);
  await check(first, large, 'after a stop and start');
  await runtime.remove(first);
  const next = await runtime.create({ ...spec, generation: 2 });
  await runtime.start(next);
  await check(next, small, 'after it was made anew');
  if (isOwn)
    await t.rejects(shellIn(commands, next)('echo 1 > /proc/meminfo'), /[Rr]ead-only/, 'nobody writes there');
}

async function endedForMemory(t: Test, { runtime, commands, insight, image }: TestInstance): Promise<void> {
  const resources = { memoryMb: 64, cpuMillicores: 500, diskMb: 512 };
  const handle = await runtime.create(aSpec(image, { resources }));
  await runtime.start(handle);
  await runIn(commands, handle, ['dd', 'if=/dev/zero', 'of=/workspace/caches', 'bs=1M', 'count=200']);
  t.match(await insight.load(handle), { memoryKills: 0 }, 'reclaimed caches do not count');
  const hungry = await runIn(commands, handle, ['tail', '/dev/zero']);
  t.equal(hungry.exitCode, 137);
  const kills = async () => (await insight.load(handle)).memoryKills;
  t.equal(await eventually(kills, (count) => count === 1), 1);
  await runtime.remove(handle);
}

async function earlier(
  t: Test,
  { docker, runtime, image, instanceId, network }: TestInstance,
): Promise<void> {
  const spec = aSpec(image, { hostname: 'w-carol' });
  const Labels = { 'berth.instance': instanceId, 'berth.db_id': spec.dbId };
  await docker.createVolume({ Name: spec.volume, Labels });
  const settings = await runtimeSettings(docker, { instanceId, network: network.name, node: 'test' });
  const name = earlierName(spec.dbId, spec.generation);
  const made = await docker.createContainer({ ...createOptions(spec, settings), name });
  t.match(await runtime.find(spec.dbId, spec.generation), { runtimeId: made.id });
  t.match(
    await runtime.create(spec),
    { runtimeId: made.id },
    'a try that comes back takes it, and makes no second one',
  );
  t.match((await made.inspect()).Name, name);
}

async function unanswered(t: Test): Promise<void> {
  const settings = {
    instanceId: 'i',
    network: 'n',
    node: 'x',
    cgroupParent: null,
    processLimits: { nofile: 1024, sigpending: 256, msgqueue: 102_400, memlock: 65_536 },
    hostCpuMillicores: 4000,
  };
  const handle = { node: 'x', runtimeId: 'a'.repeat(64) };
  const absent = dockerRuntime(dockerAt({ socketPath: '/nonexistent/docker.sock' }), settings);
  await t.rejects(absent.observe(handle), { name: 'RuntimeUnavailable' }, 'absent: never "gone"');
  await t.rejects(absent.list(), { name: 'RuntimeUnavailable' });

  const socketPath = join(tmpdir(), `berth-hung-${process.pid}.sock`);
  const hung = createServer((socket) => socket.on('error', () => {}).resume()).listen(socketPath);
  t.teardown(() => hung.close());
  const waiting = dockerRuntime(dockerAt({ socketPath }), settings);
  await t.rejects(
    waiting.create(aSpec('x')),
    { name: 'RuntimeUnavailable', message: /within 2 s/ },
    'hung: given up within the time limit of a ping, whatever that of the call',
  );
  const { commands } = dockerAccess(dockerAt({ socketPath }), settings.instanceId);
  await t.rejects(runIn(commands, handle, ['true']), { name: 'RuntimeUnavailable' });
}
