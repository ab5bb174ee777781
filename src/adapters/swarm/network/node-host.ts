import { unlessAborted } from '../../../concurrency/timeout.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { CommandResult } from '../../child-process.ts';
import type { EngineCalls } from '../../docker/engine/engine-client.ts';
import { runOneShot } from '../../docker/engine/one-shot-container.ts';
import { dockerPrograms } from '../../docker/exec/container-programs.ts';
import type { Run } from '../../docker/host/host-commands.ts';

const HOST = '/host';
const LIFE_SECONDS = 60;
/** Where administration tools are. */
const PATH = '/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin';

type Order = {
  readonly calls: EngineCalls;
  readonly instanceId: string;
  readonly image: string;
  readonly lifeSeconds?: number;
};

/**
 * Work with the programs of a node itself, such as its packet filter, whose form only they know: in a container that
 * sees the node's files, of which it changes none, and its network. Throws `RuntimeUnavailable` for an engine that hangs
 * while the programs run.
 */
export async function onHostOf<T>(
  { calls, instanceId, image, lifeSeconds = LIFE_SECONDS }: Order,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const order = {
    instanceId,
    image,
    entrypoint: ['sleep', String(lifeSeconds)],
    rights: { CapAdd: ['NET_ADMIN', 'NET_RAW', 'SYS_CHROOT'], PidsLimit: 64 },
    onHost: {
      NetworkMode: 'host',
      UsernsMode: 'host',
      Mounts: [
        { Type: 'bind' as const, Source: '/', Target: HOST, ReadOnly: true },
        // The packet filter has its lock there.
        { Type: 'bind' as const, Source: '/run', Target: `${HOST}/run`, ReadOnly: false },
      ],
    },
  };
  return await runOneShot(calls, order, async ({ id }) => {
    const over = AbortSignal.timeout(lifeSeconds * 1000);
    const working = work((command, args, options) =>
      runInside(calls, id, [command, ...args], options?.input ?? '', over),
    );
    return await unlessAborted(over, working).catch((error: unknown) => {
      if (!over.aborted) throw error;
      throw new RuntimeUnavailable(`programs of a node did not end within ${lifeSeconds} s`, {
        cause: error,
      });
    });
  });
}

async function runInside(
  calls: EngineCalls,
  id: string,
  command: readonly string[],
  input: string,
  over: AbortSignal,
): Promise<CommandResult> {
  const program = await dockerPrograms(calls).start(id, {
    command: ['chroot', HOST, ...command],
    env: { PATH, LC_ALL: 'C' },
    form: 'apart',
    stdin: true,
  });
  over.addEventListener('abort', () => program.stream.destroy(), { once: true });
  program.stream.end(input);
  const text = { stdout: '', stderr: '' };
  for await (const { stream, data } of program.output()) text[stream] += data.toString();
  return { ...text, code: (await program.exitCode()) ?? 137 };
}
