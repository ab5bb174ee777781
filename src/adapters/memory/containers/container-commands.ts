import { once } from 'node:events';
import type { CommandEvent, ContainerCommands } from '../../../ports/containers/container-commands.ts';
import {
  ContainerNotRunning,
  type ContainerRuntime,
  type ExecResult,
  type RuntimeHandle,
} from '../../../ports/containers/container-runtime.ts';

/** Commands of the memory runtime, with all output at their end. */
export function memoryCommands(runtime: ContainerRuntime): ContainerCommands {
  return {
    async open(handle, request) {
      await requireRunning(runtime, handle);
      const ending = new AbortController();
      const ended = once(ending.signal, 'abort').then(() => null);
      const room = {
        freeBytes: Number.MAX_SAFE_INTEGER,
        more: async () => {},
        unwanted: ending.signal,
      };
      const run = runtime.exec(handle, { ...request, room, maxOutputBytes: Number.MAX_SAFE_INTEGER });
      return { events: events(Promise.race([run, ended])), end: async () => ending.abort() };
    },
  };
}

/** Throws like the engine for a missing or stopped container. */
export async function requireRunning(runtime: ContainerRuntime, handle: RuntimeHandle): Promise<void> {
  const { kind } = await runtime.observe(handle);
  if (kind !== 'running') throw new ContainerNotRunning('container is not running', kind === 'gone');
}

async function* events(result: Promise<ExecResult | null>): AsyncGenerator<CommandEvent> {
  const done = await result;
  for (const stream of ['stdout', 'stderr'] as const) {
    const data = done?.[stream] ?? Buffer.alloc(0);
    // Pieces may end at any byte.
    if (data.length > 0) yield { kind: 'output', stream, data: data.subarray(0, 1) };
    if (data.length > 1) yield { kind: 'output', stream, data: data.subarray(1) };
  }
  yield { kind: 'exit', exitCode: done?.exitCode ?? null };
}
