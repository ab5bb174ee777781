import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { Parser } from 'tar/parse';
import type { memoryStorage } from '../../../src/adapters/memory/index.ts';
import {
  type CommandOutput,
  collectOutput,
  type OutputLimits,
} from '../../../src/app/containers/inside/command-output.ts';
import type { ContainerDisk } from '../../../src/ports/containers/container-disk.ts';
import type {
  ContainerRuntime,
  ContainerSpec,
  RuntimeHandle,
} from '../../../src/ports/containers/container-runtime.ts';
import type {
  CommandRequest,
  ContainerCommands,
} from '../../../src/ports/containers/inside/container-commands.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { waitFor } from '../patience.ts';

const MAX_OUTPUT_BYTES = 1_000_000;

/** Runs a command in a container to its end. */
export async function runIn(
  commands: ContainerCommands,
  handle: RuntimeHandle,
  command: readonly string[],
  more: Partial<CommandRequest & OutputLimits> = {},
): Promise<CommandOutput> {
  const request = { command, timeoutSeconds: 60, maxOutputBytes: MAX_OUTPUT_BYTES, ...more };
  return await collectOutput(await commands.open(handle, request), request);
}

/** Runs shell scripts in a container; throws anything but exit 0. */
export const shellIn =
  (commands: ContainerCommands, handle: RuntimeHandle, timeoutSeconds = 60) =>
  async (script: string): Promise<string> => {
    const { exitCode, stdout, stderr } = await runIn(commands, handle, ['sh', '-c', script], {
      timeoutSeconds,
    });
    if (exitCode !== 0) throw new Error(`${script} ended with ${exitCode}: ${stderr}`);
    return stdout.toString().trim();
  };

/** The number of the service's programs and commands running in the container, besides this one. */
export const markedProcesses = (sh: (script: string) => Promise<string>): Promise<number> =>
  sh(`for f in /proc/[0-9]*/environ; do tr '\\0' '\\n' < $f; done 2>/dev/null |
    grep ^BERTH_EXEC= | grep -vcF "$BERTH_EXEC" || true`).then(Number);

/** A container specification with the smallest limits and the given values. */
export function aSpec(image: string, given: Partial<ContainerSpec> = {}): ContainerSpec {
  const dbId = given.dbId ?? randomUUID();
  return {
    dbId,
    ownerId: randomUUID(),
    generation: 1,
    operationId: randomUUID(),
    image,
    volume: `ws-${dbId}`,
    hostname: 'test',
    resources: { memoryMb: 512, cpuMillicores: 2000, diskMb: 512 },
    env: {},
    ...given,
  };
}

type Engine = Pick<ContainerRuntime & ContainerDisk, 'create' | 'start' | 'remove' | 'removeVolume'>;

/** A container that has been started. It goes with `t`, and its volume with it. */
export async function started(
  t: Pick<Test, 'teardown'>,
  runtime: Engine,
  spec: ContainerSpec,
): Promise<RuntimeHandle> {
  const handle = await runtime.create(spec);
  t.teardown(async () => {
    await runtime.remove(handle);
    await runtime.removeVolume(spec.volume);
  });
  await runtime.start(handle);
  return handle;
}

const older = (at: Date | null | undefined, hours: number) =>
  at == null ? at : new Date(at.getTime() - hours * 3_600_000);

/** Ages the events of a container and its volume by this many hours. */
export const ageVolumeIn =
  ({ state }: Pick<ReturnType<typeof memoryStorage>, 'state'>) =>
  async (dbId: string, hours: number): Promise<void> => {
    state.containers = state.containers.map((one) =>
      one.dbId === dbId ? { ...one, deletedAt: older(one.deletedAt, hours) ?? null } : one,
    );
    const volume = Object.entries(state.volumes.get(dbId) ?? {});
    const aged = volume.map(([key, at]) => [key, older(at, hours)]);
    if (volume.length > 0) state.volumes.set(dbId, Object.fromEntries(aged));
  };

const WITHIN_MS = 60_000;

/** Waits until the pool has exactly this many members, all ready; returns their db ids. */
export async function poolOf(
  { repositories }: Pick<Storage, 'repositories'>,
  size: number,
): Promise<string[]> {
  let members: Awaited<ReturnType<typeof repositories.warmPool.list>> = [];
  const isFull = async (): Promise<boolean> => {
    members = await repositories.warmPool.list('00000000-0000-4000-8000-000000000000', false);
    return members.length === size && members.every((one) => one.state === 'ready');
  };
  const what = (): string => `${size} members; the pool has ${JSON.stringify(members)}`;
  await waitFor(isFull, { patienceMs: WITHIN_MS, everyMs: 20, what });
  return members.map((one) => one.dbId);
}

type Untarred = {
  readonly path: string;
  readonly type: string;
  readonly mode: number;
  readonly content: Buffer;
};

/** The entries of a tar archive, read by another library than the writer's. */
export function untar(archive: Buffer): readonly Untarred[] {
  const entries: (Omit<Untarred, 'content'> & { readonly chunks: Buffer[] })[] = [];
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      const chunks: Buffer[] = [];
      entry.on('data', (chunk: Buffer) => chunks.push(chunk));
      entries.push({ path: entry.path, type: entry.type, mode: entry.mode ?? 0, chunks });
    },
  });
  parser.end(archive);
  return entries.map(({ chunks, ...entry }) => ({ ...entry, content: Buffer.concat(chunks) }));
}
