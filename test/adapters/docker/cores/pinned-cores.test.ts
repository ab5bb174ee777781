import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { parentFolders } from '../../../../src/adapters/docker/host/container-groups.ts';
import type { RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import { aSpec, shellIn } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';

const groupOf = ({ instanceId }: TestInstance): string =>
  parentFolders('cpuset', instanceId).find((folder) => existsSync(folder)) ?? '';

const coresOf = async ({ docker }: TestInstance, { runtimeId }: RuntimeHandle): Promise<string> =>
  (await docker.getContainer(runtimeId).inspect()).HostConfig.CpusetCpus ?? '';

const started = async ({ runtime, image }: TestInstance): Promise<RuntimeHandle> => {
  const resources = { memoryMb: 64, cpuMillicores: 500, diskMb: 512 };
  const handle = await runtime.create(aSpec(image, { resources }));
  await runtime.start(handle);
  return handle;
};

const engine = await engineOrSkip(t);
if (engine?.kind === 'private') {
  const instance = await testInstance(t, engine);
  await t.test('one refused move holds up no other', (t) => refusedMove(t, instance));
  await t.test('a container starts whose core is gone', (t) => lostCore(t, instance));
}

async function refusedMove(t: Test, instance: TestInstance): Promise<void> {
  const { docker, runtime } = instance;
  const all = (await readFile(`${groupOf(instance) || '/sys/fs/cgroup/cpuset'}/cpuset.cpus`, 'utf8')).trim();
  const both = [await started(instance), await started(instance)];
  // Idle ones move in the order of their ids.
  const [first, second] = both.toSorted((a, b) => (a.runtimeId < b.runtimeId ? -1 : 1));
  if (first === undefined || second === undefined) throw new Error('two were started');
  for (const { runtimeId } of both) await docker.getContainer(runtimeId).update({ CpusetCpus: all });
  const parent = groupOf(instance);
  const own = (await readdir(parent)).find((name) => name.includes(first.runtimeId));
  // With control groups of version 1, a group keeps the cores that a group below it uses.
  const below = `${parent}/${own}/below`;
  await mkdir(below);
  await writeFile(`${below}/cpuset.cpus`, all);
  const isRefused = await instance.spreadCores().then(
    () => false,
    () => true,
  );
  t.equal((await coresOf(instance, first)) === all, isRefused);
  t.match(await coresOf(instance, second), /^\d+$/, 'the next one has moved');
  await rmdir(below);
  for (const handle of both) await runtime.remove(handle);
}

async function lostCore(t: Test, instance: TestInstance): Promise<void> {
  const { docker, runtime, commands } = instance;
  const handle = await started(instance);
  const parent = groupOf(instance);
  const all = (await readFile(`${parent}/cpuset.cpus`, 'utf8')).trim();
  const [kept, lost] = [all.at(0) ?? '', all.at(-1) ?? ''];
  await docker.getContainer(handle.runtimeId).update({ CpusetCpus: lost });
  await runtime.stop(handle, 1);
  // As the kernel leaves the group after a core went offline.
  await writeFile(`${parent}/cpuset.cpus`, kept);
  const sh = shellIn(commands, handle);
  await runtime.start(handle);
  await instance.spreadCores();
  t.equal(await sh('grep Cpus_allowed_list /proc/self/status | cut -f 2'), kept);
  t.equal(await coresOf(instance, handle), kept, 'it keeps the cores that it received');
  await runtime.stop(handle, 1);
  const again = await instance.restarted();
  await again.start(handle);
  t.equal(await sh('nproc'), '1', 'also for a service that starts anew');
  const next = await started(instance);
  t.equal(await coresOf(instance, next), kept, 'a new one receives none that is gone');
}
