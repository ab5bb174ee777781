import t from 'tap';
import type { ContainerInsight } from '../../src/ports/container-insight.ts';
import type { ContainerRuntime } from '../../src/ports/container-runtime.ts';
import { aSpec } from '../support/container-spec.ts';
import { eventually } from '../support/patience.ts';
import { bytesOf } from './container-files.ts';

export type OpenInsight = {
  readonly runtime: ContainerRuntime;
  readonly insight: ContainerInsight;
  readonly image: string;
};

/** What every place must do that tells about its containers. */
export async function containerInsightContract(
  name: string,
  { runtime, insight, image }: OpenInsight,
): Promise<void> {
  await t.test(`${name}: ContainerInsight`, async (t) => {
    const handle = await runtime.create(aSpec(image));
    const begunMs = Date.now();
    await t.rejects(
      insight.usage(handle),
      { name: 'RuntimeFailure', statusCode: 409 },
      'what does not run uses nothing',
    );
    await runtime.start(handle);

    await t.test('figures are those of now', async (t) => {
      const usage = await insight.usage(handle);
      t.ok(usage.at.getTime() >= begunMs && usage.at.getTime() <= Date.now());
      t.ok(usage.memoryBytes > 0 && usage.memoryBytes < 512 * 1024 ** 2);
      t.ok(usage.pids >= 1 && usage.pids <= 512);
      t.ok(usage.cpuMillicores >= 0);
      t.ok(usage.diskBytes === null || usage.diskBytes >= 0);
    });

    await t.test(
      'logs end by themselves when they are not followed, and by the reader when they are',
      async (t) => {
        t.type(String(await bytesOf(await insight.logs(handle, { tail: null, follow: false }))), 'string');
        t.equal(String(await bytesOf(await insight.logs(handle, { tail: 0, follow: false }))), '');
        const followed = await insight.logs(handle, { tail: 0, follow: true });
        followed.destroy();
        t.ok(followed.destroyed);
      },
    );

    await t.test('changes are told of a running and of a stopped container', async (t) => {
      t.equal((await insight.changes(handle)).complete, true);
      await runtime.stop(handle, 1);
      t.match(await insight.changes(handle), { complete: true, debian: null });
      t.type(String(await bytesOf(await insight.logs(handle, { tail: 10, follow: true }))), 'string');
    });

    await runtime.remove(handle);
    const gone = { name: 'RuntimeFailure', statusCode: 404 };
    await t.rejects(insight.logs(handle, { tail: null, follow: false }), gone);
    await t.rejects(insight.changes(handle), gone);
    // Figures of the last second are told again without asking.
    const refusal = await eventually(
      () => insight.usage(handle).catch((error) => error),
      (answer) => answer instanceof Error,
    );
    t.match(refusal, gone);
  });
}
