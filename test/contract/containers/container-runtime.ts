import t from 'tap';
import type { ContainerEngine } from '../../../src/ports/containers/container-engine.ts';
import type { ContainerObserver, RuntimeHandle } from '../../../src/ports/containers/container-runtime.ts';
import type { ContainerCommands } from '../../../src/ports/containers/inside/container-commands.ts';
import { aSpec } from '../../support/engine/container.ts';
import { collect } from './inside/container-commands.ts';

type OpenRuntime = { readonly runtime: ContainerEngine; readonly image: string };

const listedAs = async (runtime: ContainerObserver, { runtimeId }: RuntimeHandle): Promise<unknown> =>
  (await runtime.list()).find((each) => each.handle.runtimeId === runtimeId)?.state;

const aCommand = { command: ['true'], timeoutSeconds: 20 };

/** Guarantees of every container engine: for one row, from its first container to its last. */
export async function containerRuntimeContract(name: string, { runtime, image }: OpenRuntime): Promise<void> {
  await t.test(`${name}: ContainerRuntime`, async (t) => {
    const spec = aSpec(image);
    const { dbId } = spec;
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

    await t.test('start and stop succeed when the state already holds', async (t) => {
      // Some engines know whole seconds alone.
      const begunMs = Math.floor(Date.now() / 1000) * 1000;
      t.equal((await runtime.observe(handle)).kind, 'stopped', 'a new container does not run yet');
      await Promise.all([runtime.start(handle), runtime.start(handle)]);
      const running = await runtime.observe(handle);
      const startedMs = running.kind === 'running' ? running.startedAt.getTime() : 0;
      t.ok(startedMs >= begunMs && startedMs <= Date.now());
      t.equal(await listedAs(runtime, handle), 'running');
      for (const seen of await Promise.all([runtime.stop(handle, 5), runtime.stop(handle, 5)])) {
        t.equal(seen, 'stopped');
      }
      // A program that just started may not handle the signal yet: 143, or 137 after the grace.
      t.match(await runtime.observe(handle), { kind: 'stopped', exitCode: /^(0|137|143)$/ });
    });

    await t.test(
      'another container starts as soon as the programs of a stopped one have ended',
      async (t) => {
        await runtime.start(handle);
        const after = await runtime.create({ ...spec, generation: 2 });
        t.equal(await runtime.stop(handle, 5, 'ended'), 'stopped');
        await runtime.start(after);
        t.match(await runtime.observe(handle), { kind: 'stopped' });
        t.match(await runtime.observe(after), { kind: 'running' });
        await runtime.remove(after);
      },
    );

    await t.test('a removed container is gone, and a repeated removal succeeds', async (t) => {
      await runtime.start(handle);
      await Promise.all([runtime.remove(handle), runtime.remove(handle), runtime.remove(handle)]);
      await runtime.remove(handle);
      t.same(await runtime.observe(handle), { kind: 'gone' });
      t.equal(await runtime.find(dbId, 1), null);
      t.equal(await listedAs(runtime, handle), undefined);
      t.equal(await runtime.stop(handle, 1), 'gone');
      await t.rejects(runtime.start(handle), { name: 'ContainerNotRunning', isGone: true });
    });
    await runtime.removeVolume(spec.volume);
  });
}

/** `pause` acts on the engine directly, as another client of it would. */
export type OpenPaused = OpenRuntime & {
  readonly commands: ContainerCommands;
  readonly pause: (handle: RuntimeHandle) => Promise<unknown>;
};

/** What every engine must do with a container that was paused from outside. */
export async function pausedContainerContract(
  name: string,
  { runtime, commands, image, pause }: OpenPaused,
): Promise<void> {
  await t.test(`${name}: paused containers`, async (t) => {
    const handle = await runtime.create(aSpec(image));
    await runtime.start(handle);

    await t.test('a paused container does not run, and a start resumes it', async (t) => {
      const before = await runtime.observe(handle);
      await pause(handle);
      t.same(await runtime.observe(handle), { kind: 'paused' });
      t.equal(await listedAs(runtime, handle), 'paused');
      await t.rejects(commands.open(handle, aCommand), { name: 'ContainerPaused', isGone: false });
      await Promise.all([runtime.start(handle), runtime.start(handle)]);
      t.same(await runtime.observe(handle), before, 'it was not started again');
      t.match(await collect(await commands.open(handle, aCommand)), { exitCode: 0 });
    });

    await t.test('a paused container can be stopped', async (t) => {
      await pause(handle);
      t.equal(await runtime.stop(handle, 5), 'stopped');
      t.match(await runtime.observe(handle), { kind: 'stopped' });
    });

    await t.test('a paused container can be removed', async (t) => {
      await runtime.start(handle);
      await pause(handle);
      await runtime.remove(handle);
      t.same(await runtime.observe(handle), { kind: 'gone' });
    });
  });
}
