import { within } from '../../../concurrency/timeout.ts';
import { CappedOutput } from '../../../domain/capped-output.ts';
import type { RunningCommand } from '../../../ports/containers/inside/container-commands.ts';
import type { OutputRoom } from '../../../ports/output-room.ts';

export type OutputLimits = {
  readonly timeoutSeconds: number;
  /** stdout and stderr are each cut at this size. */
  readonly maxOutputBytes: number;
  readonly room?: OutputRoom;
};

/** A command's whole output, and its exit code. */
export type CommandOutput = {
  /** null: ended by the time limit. */
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly truncated: boolean;
  readonly durationMs: number;
};

/**
 * Reads a command to its end. One with more output than its room waits for more, and is cut there at its time limit.
 */
export async function collectOutput(
  running: RunningCommand,
  { timeoutSeconds, maxOutputBytes, room }: OutputLimits,
): Promise<CommandOutput> {
  const startedAtMs = performance.now();
  const output = { stdout: new CappedOutput(maxOutputBytes), stderr: new CappedOutput(maxOutputBytes) };
  const drop = (): void => {
    output.stdout.drop();
    output.stderr.drop();
  };
  room?.unwanted.addEventListener('abort', drop, { once: true });
  let freeBytes = room?.freeBytes ?? Number.POSITIVE_INFINITY;
  let exitCode: number | null = null;
  let isCut = false;
  for await (const event of running.events) {
    if (event.kind === 'exit') {
      exitCode = event.exitCode;
      isCut = event.isCut ?? false;
      break;
    }
    freeBytes -= event.data.length;
    if (freeBytes < 0 && room !== undefined) {
      freeBytes = Number.POSITIVE_INFINITY;
      const leftMs = startedAtMs + timeoutSeconds * 1000 - performance.now();
      isCut = await within(
        leftMs,
        room.more().then(() => false),
        true,
      );
      if (isCut) {
        await running.end();
        break;
      }
    }
    output[event.stream].add(event.data);
  }
  return {
    exitCode,
    stdout: output.stdout.bytes(),
    stderr: output.stderr.bytes(),
    truncated: isCut || output.stdout.isCut || output.stderr.isCut,
    durationMs: Math.round(performance.now() - startedAtMs),
  };
}
