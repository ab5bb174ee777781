import t from 'tap';
import type { WarmPoolEngine } from '../../src/ports/warm-pool-engine.ts';

export type OpenWarmPool = {
  readonly warmPool: WarmPoolEngine;
  readonly image: string;
  /** A reference that the engine does not have. */
  readonly absent: string;
};

/** What keeping members on an engine must guarantee. */
export async function warmPoolEngineContract(name: string, given: OpenWarmPool): Promise<void> {
  const { warmPool, image, absent } = given;
  await t.test(`${name}: WarmPoolEngine`, async (t) => {
    await t.test('an image has an id as long as it is there', async (t) => {
      const id = await warmPool.imageId(image);
      t.ok(id);
      t.equal(await warmPool.imageId(image), id);
      t.equal(await warmPool.imageId(absent), null);
    });
  });
}
