import type { Role } from '../../../domain/containers/catalogue.ts';
import type { ContainerObserver, RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { CommandEvent, RoleInstaller } from '../../../ports/containers/inside/container-commands.ts';
import { requireRunning } from './inside/container-commands.ts';

const CHECK_EVERY_MS = 5;

/** Prints the packages, then runs the script's lines: `echo`, `sleep` and `exit`. */
export function memoryRoleInstaller(runtime: ContainerObserver): RoleInstaller {
  const current = new Map<string, () => void>();
  return {
    async install(handle, role) {
      await requireRunning(runtime, handle);
      current.get(handle.runtimeId)?.();
      const ending = new AbortController();
      const end = (): void => ending.abort();
      current.set(handle.runtimeId, end);
      return { events: events(runtime, handle, role, ending.signal), end: async () => end() };
    },
  };
}

async function* events(
  runtime: ContainerObserver,
  handle: RuntimeHandle,
  { packages, script }: Role,
  ending: AbortSignal,
): AsyncGenerator<CommandEvent> {
  const lines = [
    ...(packages.apt ?? []).map((name) => `echo Setting up ${name}`),
    ...(script ?? '').split('\n'),
  ];
  for (const line of lines) {
    const [command, ...words] = line.trim().split(' ');
    const text = words.join(' ');
    if (command === 'echo') yield { kind: 'output', stream: 'stdout', data: Buffer.from(`${text}\n`) };
    if (command === 'sleep') await pause(runtime, handle, Number(text) * 1000, ending);
    if (ending.aborted || (await runtime.observe(handle)).kind !== 'running') {
      return yield { kind: 'exit', exitCode: 137 };
    }
    if (command === 'exit') return yield { kind: 'exit', exitCode: Number(text) };
  }
  yield { kind: 'exit', exitCode: 0 };
}

/** Ends early when the container stops or the command is ended. */
async function pause(
  runtime: ContainerObserver,
  handle: RuntimeHandle,
  ms: number,
  ending: AbortSignal,
): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until && !ending.aborted) {
    if ((await runtime.observe(handle)).kind !== 'running') return;
    await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS));
  }
}
