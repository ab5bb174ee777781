import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { ContainerEngine } from '../../../../src/ports/containers/container-engine.ts';
import type { ContainerCommands } from '../../../../src/ports/containers/inside/container-commands.ts';
import { aSpec, runIn } from '../../../support/engine/container.ts';

type OpenCopies = {
  readonly runtime: ContainerEngine;
  readonly commands: ContainerCommands;
  readonly image: string;
};

/** What every adapter that pauses containers and copies their volumes must do. */
export async function volumeCopiesContract(
  name: string,
  { runtime, commands, image }: OpenCopies,
): Promise<void> {
  await t.test(`${name}: VolumeCopies`, async (t) => {
    const spec = aSpec(image);
    const handle = await runtime.create(spec);
    const kind = async () => (await runtime.observe(handle)).kind;
    const copy = { dbId: randomUUID(), volume: `snap-${randomUUID()}`, resources: spec.resources, image };
    t.teardown(async () => {
      await runtime.remove(handle);
      for (const { volume } of [spec, copy]) await runtime.removeVolume(volume);
    });

    await t.test('a container is paused and resumed, again without effect', async (t) => {
      await runtime.resume(handle);
      await runtime.pause(handle);
      t.equal(await kind(), 'stopped', 'a stopped one stays so');
      await runtime.start(handle);
      for (let n = 0; n < 2; n += 1) await runtime.pause(handle);
      t.equal(await kind(), 'paused');
      for (let n = 0; n < 2; n += 1) await runtime.resume(handle);
      t.equal(await kind(), 'running');
    });

    await t.test('a container that is paused while processes start in it can be resumed', async (t) => {
      for (let n = 0; n < 3; n += 1) {
        const all = Array.from({ length: 4 }, () => runIn(commands, handle, ['true']).catch(() => null));
        await Promise.race(all);
        await runtime.pause(handle);
        t.equal(await kind(), 'paused');
        await runtime.resume(handle);
        await Promise.all(all);
      }
      t.equal(await kind(), 'running');
    });

    await t.test('a paused container is captured, under a name of the snapshot', async (t) => {
      await runtime.pause(handle);
      const reference = await runtime.capture(handle, { ...spec, snapshotId: copy.dbId });
      t.equal(await kind(), 'paused');
      const all = await runtime.layerImages();
      const made = all.find((one) => one.reference === reference);
      t.equal(made?.dbId, copy.dbId);
      for (const one of all.filter(({ dbId }) => dbId === copy.dbId)) await runtime.removeCaptured(one);
    });

    await t.test('its volume is copied, also again', async (t) => {
      for (let n = 0; n < 2; n += 1) await runtime.copyVolume(spec.volume, copy);
      await runtime.resume(handle);
      t.match(await runtime.volumeFacts(copy.volume), { quota: runtime.diskQuota });
      t.type(await runtime.usedBytes(copy.volume, { image, running: null }), 'number');
    });

    await t.test('copies of one volume, and its measurement, do not disturb each other', async (t) => {
      await runtime.stop(handle, 1);
      const all = Array.from({ length: 5 }, () => ({ ...copy, volume: `snap-${randomUUID()}` }));
      t.teardown(() => Promise.all(all.map(({ volume }) => runtime.removeVolume(volume))));
      const measuring = async () =>
        t.type(await runtime.usedBytes(spec.volume, { image, running: null }), 'number');
      await Promise.all(all.flatMap((one) => [runtime.copyVolume(spec.volume, one), measuring()]));
      for (const { volume } of all) t.match(await runtime.volumeFacts(volume), { quota: runtime.diskQuota });
      await runtime.start(handle);
    });

    await t.test('what is gone can be neither paused nor copied', async (t) => {
      const gone = { ...handle, runtimeId: 'f'.repeat(64) };
      await t.rejects(runtime.pause(gone), { name: 'ContainerNotRunning', isGone: true });
      await runtime.resume(gone);
      await t.rejects(runtime.copyVolume(`ws-${randomUUID()}`, { ...copy, volume: `snap-${randomUUID()}` }), {
        name: 'RuntimeFailure',
      });
    });
  });
}
