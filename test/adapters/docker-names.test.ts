import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { createOptions } from '../../src/adapters/docker/create-options.ts';
import { earlierName, hostnameInside } from '../../src/adapters/docker/names.ts';
import { runtimeSettings } from '../../src/adapters/docker/runtime-settings.ts';
import { aSpec } from '../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine/engine.ts';

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await t.test('a container cannot ask for its neighbours by name', (t) => neighbours(t, instance));
  await t.test('a container of an earlier version keeps its name and is found', (t) => earlier(t, instance));
}

async function started({ runtime, image }: TestInstance, hostname: string) {
  const spec = aSpec(image, { hostname });
  const handle = await runtime.create(spec);
  await runtime.start(handle);
  const sh = async (script: string): Promise<string> => {
    const request = { command: ['bash', '-c', script], timeoutSeconds: 20, maxOutputBytes: 10_000 };
    return (await runtime.exec(handle, request)).stdout.toString().trim();
  };
  return { dbId: spec.dbId, handle, sh };
}

async function neighbours(t: Test, instance: TestInstance): Promise<void> {
  const [alice, bob] = await Promise.all([started(instance, 'w-alice'), started(instance, 'w-bob')]);
  const info = await instance.docker.getContainer(bob.handle.runtimeId).inspect();
  const address = info.NetworkSettings.Networks[instance.network.name]?.IPAddress ?? '';
  t.match(address, /^\d/);
  const asked = [
    'w-bob',
    `w-bob.${instance.network.name}`,
    earlierName(bob.dbId, 1),
    `ws-${bob.dbId}`,
    bob.dbId,
  ];
  for (const name of asked) t.equal(await alice.sh(`getent hosts ${name}`), '', name);
  const reverse = await alice.sh(`getent hosts ${address}`);
  for (const known of ['w-bob', bob.dbId, bob.dbId.slice(0, 8)]) t.notMatch(reverse, known);

  t.equal(await bob.sh(`PS1='\\h'; echo "\${PS1@P}"`), 'w-bob', 'its own prompt shows its name');
  t.match(await bob.sh('getent hosts "$(hostname)"'), address, 'and its own name leads to itself');
  const long = 'x'.repeat(64);
  t.match(
    hostnameInside('i', 'd', long),
    /^x{47}\.[0-9a-f]{16}$/,
    'the longest name fits into what the kernel takes',
  );
}

async function earlier(
  t: Test,
  { docker, runtime, image, instanceId, network }: TestInstance,
): Promise<void> {
  const spec = aSpec(image, { dbId: randomUUID(), hostname: 'w-carol' });
  await docker.createVolume({
    Name: spec.volume,
    Labels: { 'berth.instance': instanceId, 'berth.db_id': spec.dbId },
  });
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
