import t, { type Test } from 'tap';
import type { ContainerRuntime, RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import type { ContainerCommands } from '../../../../src/ports/containers/inside/container-commands.ts';
import type { ContainerFiles } from '../../../../src/ports/containers/inside/container-files.ts';
import type { ContainerInsight } from '../../../../src/ports/containers/inside/container-insight.ts';
import type { FileSearch } from '../../../../src/ports/containers/inside/file-search.ts';
import { aSpec } from '../../../support/engine/container.ts';
import { eventually } from '../../../support/patience.ts';
import { commandsContract } from './container-commands.ts';
import { fileSearchContract } from './file-search.ts';
import { bytesOf, filesContract, filesOf } from './files.ts';

type Open = {
  readonly runtime: ContainerRuntime;
  readonly commands: ContainerCommands;
  readonly insight: ContainerInsight;
  readonly files: ContainerFiles;
  readonly fileSearch: FileSearch;
  readonly image: string;
  /** Whether the engine compares a container with its image. */
  readonly knowsChanges?: boolean;
};

/** Guarantees of commands, files, logs and statistics in a container. */
export async function containerAccessContract(
  name: string,
  { runtime, commands, insight, files: kept, fileSearch, image, knowsChanges = true }: Open,
): Promise<void> {
  await t.test(`${name}: access to a container`, async (t) => {
    const handle = await runtime.create(aSpec(image, { hostname: 'box', env: { GIVEN: 'at creation' } }));
    const files = filesOf(kept, handle);
    const begunMs = Date.now();
    const refused = async (isGone: boolean, requests: readonly Promise<unknown>[]): Promise<void> =>
      void (await Promise.all(
        requests.map((request) => t.rejects(request, { name: 'ContainerNotRunning', isGone })),
      ));
    const opened = () => commands.open(handle, { command: ['true'], timeoutSeconds: 20 });
    await refused(false, [opened(), files.read(['x']), insight.usage(handle), insight.load(handle)]);
    await runtime.start(handle);
    await commandsContract(t, (request) => commands.open(handle, request));
    await filesContract(t, files);
    await fileSearchContract(t, { search: fileSearch, handle, files });
    await insightContract(t, { runtime, insight, handle, begunMs, knowsChanges });
    await runtime.remove(handle);
    const logs = insight.logs(handle, { tail: null, follow: false });
    await refused(true, [opened(), files.read(['x']), logs, insight.changes(handle)]);
    // Statistics of the last second are cached.
    const refusal = await eventually(
      () => insight.usage(handle).catch((error) => error),
      (answer) => answer instanceof Error,
    );
    t.match(refusal, { name: 'ContainerNotRunning', isGone: true });
  });
}

type Insight = Pick<Open, 'runtime' | 'insight'> & {
  readonly handle: RuntimeHandle;
  readonly knowsChanges: boolean;
  readonly begunMs: number;
};

/** Leaves the container stopped. */
async function insightContract(
  t: Test,
  { runtime, insight, handle, begunMs, knowsChanges }: Insight,
): Promise<void> {
  await t.test('statistics are current', async (t) => {
    const usage = await insight.usage(handle);
    t.ok(usage.at.getTime() >= begunMs && usage.at.getTime() <= Date.now());
    t.ok(usage.memoryBytes > 0 && usage.memoryBytes < 512 * 1024 ** 2);
    t.ok(usage.pids >= 1 && usage.pids <= (usage.maxProcesses ?? 512));
    t.ok(usage.cpuMillicores >= 0);
    t.ok(usage.diskBytes === null || usage.diskBytes >= 0);
    const { diskBytes: _, maxProcesses: __, ...load } = usage;
    t.same(Object.keys(await insight.load(handle)).sort(), Object.keys(load).sort());
  });

  await t.test('unfollowed logs end by themselves, followed ones with their reader', async (t) => {
    t.type(String(await bytesOf(await insight.logs(handle, { tail: null, follow: false }))), 'string');
    t.equal(String(await bytesOf(await insight.logs(handle, { tail: 0, follow: false }))), '');
    const followed = await insight.logs(handle, { tail: 0, follow: true });
    followed.destroy();
    t.ok(followed.destroyed);
  });

  await t.test('changes are reported for running and stopped containers', async (t) => {
    t.equal((await insight.changes(handle)).complete, knowsChanges);
    await runtime.stop(handle, 1);
    t.match(await insight.changes(handle), { complete: knowsChanges, debian: null });
    t.type(String(await bytesOf(await insight.logs(handle, { tail: 10, follow: true }))), 'string');
  });
}
