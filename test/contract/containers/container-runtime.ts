import t, { type Test } from 'tap';
import type { ContainerCommands } from '../../../src/ports/containers/container-commands.ts';
import type { ContainerRuntime, RuntimeHandle } from '../../../src/ports/containers/container-runtime.ts';
import { aSpec } from '../../support/engine/container.ts';
import { collect } from './container-commands.ts';

/** `pause`: what somebody else does at the engine. */
export type OpenRuntime = {
  readonly runtime: ContainerRuntime;
  readonly commands: ContainerCommands;
  readonly image: string;
  readonly pause: (handle: RuntimeHandle) => Promise<unknown>;
};

const listedAs = async (runtime: ContainerRuntime, { runtimeId }: RuntimeHandle): Promise<unknown> =>
  (await runtime.list()).find((each) => each.handle.runtimeId === runtimeId)?.state;

const absent = (runtime: ContainerRuntime, handle: RuntimeHandle): Promise<boolean> =>
  runtime.list().then((all) => !all.some((each) => each.handle.runtimeId === handle.runtimeId));

const aCommand = { command: ['true'], timeoutSeconds: 20 };

/** What every place where containers run must do. */
export async function containerRuntimeContract(name: string, given: OpenRuntime): Promise<void> {
  await t.test(`${name}: ContainerRuntime`, async (t) => {
    await lifecycle(t, given);
    await within(t, given);
  });
}

/** The part of it that depends on how an installation keeps its data. */
export async function containerLifecycleContract(
  name: string,
  given: Omit<OpenRuntime, 'pause' | 'commands'>,
): Promise<void> {
  await t.test(`${name}: ContainerRuntime, as far as it keeps data`, (t) => lifecycle(t, given));
}

/** Of one row, from its first container to the end of its volume. */
async function lifecycle(
  t: Test,
  { runtime, image }: Omit<OpenRuntime, 'pause' | 'commands'>,
): Promise<void> {
  const spec = aSpec(image);
  const { dbId, volume } = spec;
  t.equal(await runtime.volumeExists(volume), false);
  t.equal(await runtime.volumeFacts(volume), null);
  t.equal(await runtime.usedBytes(volume, { image, running: null }), null);
  t.equal(await runtime.find(dbId, 1), null);
  const [handle, same] = await Promise.all([runtime.create(spec), runtime.create(spec)]);
  const next = await runtime.create({ ...spec, generation: 2 });

  await t.test('a repeated create returns the same container', async (t) => {
    t.same(same, handle);
    t.match(handle.runtimeId, /^[0-9a-f]{64}$/);
    t.not(next.runtimeId, handle.runtimeId, 'another generation is another container');
    const listed = (await runtime.list()).filter((each) => each.dbId === dbId);
    t.same(listed.map(({ generation, state }) => `${generation} ${state}`).sort(), [
      '1 stopped',
      '2 stopped',
    ]);
  });

  await t.test('a container is found by its row and generation', async (t) => {
    t.same(await runtime.find(dbId, 1), handle);
    t.same(await runtime.find(dbId, 2), next);
    await runtime.remove(next);
    t.equal(await runtime.find(dbId, 2), null);
    await t.resolves(runtime.ping());
  });

  await t.test('a volume in use is not removed', async (t) => {
    t.match(await runtime.volumeFacts(volume), { quota: runtime.diskQuota });
    const bytes = await runtime.usedBytes(volume, { image, running: null });
    t.ok(bytes !== null && bytes < 1_048_576, `an empty one holds next to nothing: ${bytes}`);
    await t.rejects(runtime.removeVolume(volume), { name: 'RuntimeFailure' });
    t.equal(await runtime.volumeExists(volume), true);
  });

  await t.test('start and stop succeed when the state already holds', async (t) => {
    const begunMs = Date.now();
    t.equal((await runtime.observe(handle)).kind, 'stopped', 'a new container does not run yet');
    await Promise.all([runtime.start(handle), runtime.start(handle)]);
    const running = await runtime.observe(handle);
    const startedMs = running.kind === 'running' ? running.startedAt.getTime() : 0;
    t.ok(startedMs >= begunMs && startedMs <= Date.now());
    t.equal(await listedAs(runtime, handle), 'running');
    for (const seen of await Promise.all([runtime.stop(handle, 5), runtime.stop(handle, 5)])) {
      t.equal(seen, 'stopped');
    }
    t.match(await runtime.observe(handle), { kind: 'stopped', exitCode: 0 });
  });

  await t.test(
    'a removed container is gone, its volume stays, and a repeated removal succeeds',
    async (t) => {
      await runtime.start(handle);
      await Promise.all([runtime.remove(handle), runtime.remove(handle), runtime.remove(handle)]);
      await runtime.remove(handle);
      t.same(await runtime.observe(handle), { kind: 'gone' });
      t.equal(await runtime.find(dbId, 1), null);
      t.ok(await absent(runtime, handle));
      t.equal(await runtime.volumeExists(volume), true);
      t.equal(await runtime.stop(handle, 1), 'gone');
      await t.rejects(runtime.start(handle), { name: 'ContainerNotRunning', isGone: true });
    },
  );

  await t.test('a volume is removed with its contents, and again without error', async (t) => {
    await Promise.all([runtime.removeVolume(volume), runtime.removeVolume(volume)]);
    await runtime.removeVolume(volume);
    t.equal(await runtime.volumeExists(volume), false);
    t.equal(await runtime.volumeFacts(volume), null);
  });
}

/** Of one container, which ends paused. */
async function within(t: Test, { runtime, commands, image, pause }: OpenRuntime): Promise<void> {
  const spec = aSpec(image);
  const handle = await runtime.create(spec);
  await runtime.start(handle);

  await t.test('what a container has outside its volume is counted', async (t) => {
    const use = await runtime.layerUse(handle, image);
    t.ok(use !== null && use.ownBytes >= 0 && use.ownBytes < 100 * 1024 * 1024, JSON.stringify(use));
    t.equal(use?.snapshotImageBytes, 0);
  });

  await t.test("the host's space is reported, or unknown", async (t) => {
    const spaces = await runtime.hostSpace();
    t.ok(spaces.every(({ freeBytes, totalBytes }) => freeBytes > 0 && freeBytes <= totalBytes));
  });

  await t.test('a paused container does not run, and a start resumes it', async (t) => {
    const before = await runtime.observe(handle);
    await pause(handle);
    t.same(await runtime.observe(handle), { kind: 'paused' });
    t.equal(await listedAs(runtime, handle), 'paused');
    await t.rejects(commands.open(handle, aCommand), { name: 'ContainerNotRunning', isGone: false });
    await Promise.all([runtime.start(handle), runtime.start(handle)]);
    t.same(await runtime.observe(handle), before, 'it was not started anew');
    t.match(await collect(await commands.open(handle, aCommand)), { exitCode: 0 });
    await pause(handle);
    t.equal(await runtime.stop(handle, 5), 'stopped');
    t.match(await runtime.observe(handle), { kind: 'stopped' });
  });

  await t.test('a stopped container can be captured as an image', async (t) => {
    const mine = async () => (await runtime.snapshotImages()).filter(({ dbId }) => dbId === spec.dbId);
    t.same(await mine(), []);
    const captured = { ...spec, generation: 2 };
    const reference = await runtime.capture(handle, captured);
    t.equal(await runtime.capture(handle, captured), reference, 'asked for again, it is the same');
    const [first] = await mine();
    t.match(first, { reference, imageId: String });
    const other = await runtime.capture(handle, { ...captured, operationId: aSpec(image).operationId });
    t.equal(other, reference, 'another try has the name to itself');
    const named = (await mine()).filter((one) => one.reference === reference);
    t.equal(named.length, 1);
    t.not(named[0]?.imageId, first?.imageId);
    const made = await runtime.create({ ...captured, image: reference });
    for (const one of await mine()) await runtime.removeCaptured(one);
    t.match(await mine(), [{ reference }], 'one that a container is made of stays');
    await runtime.remove(made);
    for (const one of [...(await mine()), ...(await mine())]) await runtime.removeCaptured(one);
    t.same(await mine(), []);
  });

  await t.test('a paused container can be removed', async (t) => {
    await runtime.start(handle);
    await pause(handle);
    await runtime.remove(handle);
    t.same(await runtime.observe(handle), { kind: 'gone' });
    t.equal(await runtime.layerUse(handle, image), null);
    const captured = { ...spec, generation: 2 };
    await t.rejects(runtime.capture(handle, captured), { name: 'ContainerNotRunning', isGone: true });
  });
}
