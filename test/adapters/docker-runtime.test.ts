import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { dockerAt } from '../../src/adapters/docker/client.ts';
import { dockerRuntime } from '../../src/adapters/docker/container-runtime.ts';
import { CAPABILITIES } from '../../src/adapters/docker/create-options.ts';
import { containerName } from '../../src/adapters/docker/names.ts';
import { runtimeSettings } from '../../src/adapters/docker/runtime-settings.ts';
import type { RuntimeHandle } from '../../src/ports/container-runtime.ts';
import { containerRuntimeContract } from '../contract/container-runtime.ts';
import { aSpec } from '../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine/engine.ts';
import { eventually } from '../support/patience.ts';

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  const { docker } = instance;
  const pause = ({ runtimeId }: RuntimeHandle) => docker.getContainer(runtimeId).pause();
  await containerRuntimeContract('docker', { ...instance, pause });
  await t.test('docker: ownership', (t) => ownership(t, instance));
  await t.test('docker: stopping', (t) => stopping(t, instance));
  await t.test('docker: confinement', (t) => confinement(t, instance));
  await t.test('docker: exec leaves nothing running', (t) => execLeavesNothing(t, instance));
}
await t.test('docker: an engine that does not answer', unanswered);

async function sh(
  { runtime }: TestInstance,
  handle: RuntimeHandle,
  script: string,
  timeoutSeconds = 20,
): Promise<string> {
  const request = { command: ['sh', '-c', script], timeoutSeconds, maxOutputBytes: 100_000 };
  const { exitCode, stdout, stderr } = await runtime.exec(handle, request);
  if (exitCode !== 0) throw new Error(`${script} ended with ${exitCode}: ${stderr}`);
  return stdout.toString().trim();
}

async function ownership(t: Test, { docker, runtime, image, instanceId }: TestInstance): Promise<void> {
  const other = dockerRuntime(docker, {
    ...(await runtimeSettings(docker, {
      instanceId: `${instanceId}-other`,
      network: 'bridge',
      node: 'test',
    })),
  });
  const spec = aSpec(image);
  const handle = await runtime.create(spec);
  for (const work of [
    () => other.start(handle),
    async () => void (await other.stop(handle, 1)),
    () => other.remove(handle),
  ]) {
    await t.rejects(work, { name: 'RuntimeFailure', statusCode: 403 }, 'another installation is refused');
  }
  t.same(await other.observe(handle), { kind: 'gone' });
  t.same(await other.list(), []);
  await t.rejects(
    other.create(spec),
    { name: 'RuntimeFailure' },
    'neither its volume nor its name is taken over',
  );
  await t.rejects(other.removeVolume(spec.volume), { name: 'RuntimeFailure', statusCode: 403 });
  t.same(await other.capturedImages(), []);
  const prefix = { ...handle, runtimeId: handle.runtimeId.slice(0, 12) };
  const tries: (() => Promise<unknown>)[] = [
    () => runtime.start(prefix),
    () => runtime.observe(prefix),
    () => runtime.remove({ ...handle, runtimeId: containerName(instanceId, spec.dbId, 1) }),
  ];
  for (const work of tries) {
    await t.rejects(
      work,
      { name: 'RuntimeFailure', statusCode: 404 },
      'the engine never sees a prefix or a name',
    );
  }
  t.match(await runtime.observe(handle), { kind: 'stopped' }, 'it is still there');
  const info = await docker.getContainer(handle.runtimeId).inspect();
  t.equal(info.Name, `/${containerName(instanceId, spec.dbId, 1)}`);
  const volume = await docker.getVolume(spec.volume).inspect();
  t.match(volume.Labels, { 'berth.instance': instanceId, 'berth.db_id': spec.dbId });
}

async function stopping(t: Test, instance: TestInstance): Promise<void> {
  const { runtime, image } = instance;
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  await sh(instance, handle, 'echo kept > /etc/kept');
  await sh(
    instance,
    handle,
    `setsid sh -c 'trap "echo asked > /workspace/asked; exit" TERM; touch /tmp/obeys; while :; do sleep 0.1; done' >/dev/null 2>&1 &
    tmux new-session -d bash; until [ -e /tmp/obeys ]; do sleep 0.05; done`,
  );
  await runtime.stop(handle, 60);
  t.match(await runtime.observe(handle), { kind: 'stopped', exitCode: 0 }, 'it ended when they had');
  await runtime.start(handle);
  t.equal(
    await sh(instance, handle, 'cat /workspace/asked'),
    'asked',
    'programs are asked before they are killed',
  );
  t.equal(
    await sh(instance, handle, 'cat /etc/kept'),
    'kept',
    'what was written outside the volume is there again',
  );
  await sh(
    instance,
    handle,
    `setsid sh -c 'trap "" TERM HUP; touch /tmp/stays; while :; do sleep 0.1; done' >/dev/null 2>&1 &
    until [ -e /tmp/stays ]; do sleep 0.05; done`,
  );
  await runtime.stop(handle, 1);
  const killed = { kind: 'stopped', exitCode: 137 } as const;
  t.match(await runtime.observe(handle), killed, 'programs that do not obey are killed');
}

async function confinement(t: Test, instance: TestInstance): Promise<void> {
  const { runtime, docker, image, network } = instance;
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  const { HostConfig: host } = await docker.getContainer(handle.runtimeId).inspect();
  t.match(host, {
    Privileged: false,
    Init: true,
    PidsLimit: 512,
    IpcMode: 'private',
    PidMode: '',
    UTSMode: '',
    Binds: null,
  });
  t.match(host, {
    Memory: 536_870_912,
    MemorySwap: 536_870_912,
    NanoCpus: 2_000_000_000,
    NetworkMode: network.name,
  });
  t.match(host, {
    RestartPolicy: { Name: 'no' },
    PublishAllPorts: false,
    CapDrop: ['ALL'],
    CapAdd: [...CAPABILITIES],
  });
  t.ok((host.OomScoreAdj ?? -1) >= 0);
  t.ok((host.MaskedPaths ?? []).includes('/proc/kcore') && (host.ReadonlyPaths ?? []).includes('/proc/sys'));
  const status = await sh(instance, handle, 'cat /proc/self/status');
  t.match(status, /NoNewPrivs:\s+1/);
  t.match(status, /Seccomp:\s+2/, 'the default filter is on');
  t.match(status, /CapBnd:\s+00000000000000fb/, 'no other capability can be had');
  if (instance.kind === 'private') {
    t.match(
      await sh(instance, handle, 'cat /proc/self/uid_map'),
      /^\s*0\s+[1-9]\d+\s/,
      'root inside is nobody outside',
    );
  }
  t.equal(await sh(instance, handle, 'ulimit -c'), '0');
  await t.rejects(sh(instance, handle, 'mount -t tmpfs x /mnt'));
  await t.rejects(sh(instance, handle, 'echo 1 > /proc/sys/kernel/sysrq'));
  await sh(
    instance,
    handle,
    'i=0; while [ $i -lt 600 ]; do sleep 2 & i=$((i+1)); done 2>/dev/null; true',
  ).catch(() => {});
  const alive = () => sh(instance, handle, 'echo alive').catch(() => null);
  t.equal(await eventually(alive, Boolean, { everyMs: 200 }), 'alive', 'a fork bomb ends at the limit');
  await runtime.remove(handle);
}

async function execLeavesNothing(t: Test, instance: TestInstance): Promise<void> {
  const { runtime, image } = instance;
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  const command = ['sh', '-c', 'sleep 4600 & (setsid sleep 4601) & sh -c "sleep 4602; :" & echo begun; wait'];
  const result = await runtime.exec(handle, { command, timeoutSeconds: 1, maxOutputBytes: 1000 });
  t.match(result, { exitCode: null, truncated: false });
  t.equal(result.stdout.toString(), 'begun\n', 'what was printed before the limit is there');
  t.equal(await sh(instance, handle, 'pgrep -fc "sleep 46[0]"; true'), '0');
  const many = await Promise.all(
    Array.from({ length: 20 }, (_, index) => sh(instance, handle, `echo ${index}`)),
  );
  t.same(
    many,
    Array.from({ length: 20 }, (_, index) => String(index)),
    'commands at the same time do not mix',
  );
  await runtime.remove(handle);
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
  await t.rejects(waiting.exec(handle, { command: ['true'], timeoutSeconds: 1, maxOutputBytes: 1 }), {
    name: 'RuntimeUnavailable',
  });
}
