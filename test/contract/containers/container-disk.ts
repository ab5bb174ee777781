import t from 'tap';
import type { ContainerEngine } from '../../../src/ports/containers/container-engine.ts';
import { aSpec } from '../../support/engine/container.ts';

type OpenDisk = { readonly runtime: ContainerEngine; readonly image: string };

/** What every place must do that keeps the volumes of containers, from the first container on one to its removal. */
export async function containerDiskContract(name: string, { runtime, image }: OpenDisk): Promise<void> {
  await t.test(`${name}: ContainerDisk`, async (t) => {
    const spec = aSpec(image);
    const { volume } = spec;
    const { measuresDisk } = runtime.capabilities;
    t.equal(await runtime.volumeExists(volume), false);
    t.equal(await runtime.volumeFacts(volume), null);
    t.equal(await runtime.usedBytes(volume, { image, running: null }), null);
    const handle = await runtime.create(spec);

    await t.test('a volume in use is not removed', async (t) => {
      t.match(await runtime.volumeFacts(volume), { quota: runtime.diskQuota });
      const bytes = await runtime.usedBytes(volume, { image, running: null });
      t.equal(bytes !== null, measuresDisk);
      t.ok((bytes ?? 0) < 1_048_576, `an empty one holds next to nothing: ${bytes}`);
      await t.rejects(runtime.removeVolume(volume), { name: 'RuntimeFailure' });
      t.equal(await runtime.volumeExists(volume), true);
    });

    await t.test('use outside the volume is measured', async (t) => {
      await runtime.start(handle);
      const use = await runtime.layerUse(handle, image);
      t.equal(use !== null, measuresDisk);
      const { ownBytes = 0, layerImageBytes = 0 } = use ?? {};
      t.ok(ownBytes >= 0 && ownBytes < 100 * 1024 * 1024, JSON.stringify(use));
      t.equal(layerImageBytes, 0);
    });

    await t.test('a volume stays when its container goes', async (t) => {
      await runtime.remove(handle);
      t.equal(await runtime.layerUse(handle, image), null);
      t.equal(await runtime.volumeExists(volume), true);
    });

    await t.test('a volume is removed with its contents, and again without error', async (t) => {
      await Promise.all([runtime.removeVolume(volume), runtime.removeVolume(volume)]);
      await runtime.removeVolume(volume);
      t.equal(await runtime.volumeExists(volume), false);
      t.equal(await runtime.volumeFacts(volume), null);
    });

    await t.test("the host's space is reported, or unknown", async (t) => {
      const spaces = await runtime.hostSpace();
      t.ok(spaces.every(({ freeBytes, totalBytes }) => freeBytes > 0 && freeBytes <= totalBytes));
    });
  });
}
