import t from 'tap';
import type { ContainerSnapshots } from '../../../src/ports/containers/container-images.ts';
import type { ContainerRuntime } from '../../../src/ports/containers/container-runtime.ts';
import { aSpec } from '../../support/engine/container.ts';

type OpenSnapshots = { readonly runtime: ContainerRuntime & ContainerSnapshots; readonly image: string };

/** What every place must do that keeps images of containers. */
export async function containerSnapshotsContract(
  name: string,
  { runtime, image }: OpenSnapshots,
): Promise<void> {
  await t.test(`${name}: ContainerSnapshots`, async (t) => {
    const spec = aSpec(image);
    const handle = await runtime.create(spec);
    await runtime.start(handle);
    await runtime.stop(handle, 5);
    const captured = { ...spec, generation: 2 };
    let reference = '';
    const mine = async () => (await runtime.layerImages()).filter(({ dbId }) => dbId === spec.dbId);

    await t.test('a stopped container can be captured as an image', async (t) => {
      t.same(await mine(), []);
      reference = await runtime.capture(handle, captured);
      t.equal(await runtime.capture(handle, captured), reference, 'asked for again, it is the same');
      const [first] = await mine();
      t.match(first, { reference, imageId: String });
      const other = await runtime.capture(handle, { ...captured, operationId: aSpec(image).operationId });
      t.equal(other, reference, 'another try has the name to itself');
      const named = (await mine()).filter((one) => one.reference === reference);
      t.equal(named.length, 1);
      t.not(named[0]?.imageId, first?.imageId);
    });

    await t.test('an image is removed, unless a container is made of it', async (t) => {
      const made = await runtime.create({ ...captured, image: reference });
      for (const one of await mine()) await runtime.removeCaptured(one);
      t.match(await mine(), [{ reference }]);
      await runtime.remove(made);
      for (const one of [...(await mine()), ...(await mine())]) await runtime.removeCaptured(one);
      t.same(await mine(), []);
    });

    await t.test('a removed container cannot be captured', async (t) => {
      await runtime.remove(handle);
      await t.rejects(runtime.capture(handle, captured), { name: 'ContainerNotRunning', isGone: true });
    });
  });
}
