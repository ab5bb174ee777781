import { CappedOutput } from '../../../domain/capped-output.ts';
import { MAX_STORED_BYTES, type StoredOutput } from '../../../domain/containers/processes/stored-output.ts';
import type { RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type {
  ContainerProcesses,
  KeptOutput,
  OutputName,
  ProcessOutput,
} from '../../../ports/containers/processes/container-processes.ts';

type Copied = Pick<StoredOutput, OutputName>;

/**
 * Copies the newest output of a process out of its container; null when that has none. On the signal it ends reading,
 * and throws its reason.
 */
export async function copyOutput(
  processes: Pick<ContainerProcesses, 'kept' | 'output'>,
  handle: RuntimeHandle,
  id: string,
  signal: AbortSignal,
): Promise<Copied | null> {
  const kept = await processes.kept(handle, id);
  signal.throwIfAborted();
  const opened = kept === null ? null : await processes.output(handle, id, newestOf(kept), false);
  if (opened === null) return null;
  const end = (): void => void opened.end();
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    const copied = await newestIn(opened);
    // Reading that was ended looks like the end of the output.
    signal.throwIfAborted();
    return copied;
  } finally {
    signal.removeEventListener('abort', end);
    await opened.end();
  }
}

async function newestIn({ start, pieces }: ProcessOutput): Promise<Copied> {
  const parts = { stdout: partFrom(start.stdout), stderr: partFrom(start.stderr) };
  for await (const { stream, offset, data } of pieces) {
    const { first, bytes } = parts[stream];
    // Output was removed meanwhile: what was read before the gap is not the newest.
    if (offset !== first + bytes.bytes().length) parts[stream] = partFrom(offset);
    parts[stream].bytes.add(data);
    // The program writes faster than this reads.
    if (parts[stream].bytes.isCut) break;
  }
  return { stdout: endOf(parts.stdout), stderr: endOf(parts.stderr) };
}

type Part = { readonly first: number; readonly bytes: CappedOutput };

const partFrom = (first: number): Part => ({ first, bytes: new CappedOutput(2 * MAX_STORED_BYTES) });

function endOf({ first, bytes }: Part): StoredOutput['stdout'] {
  const all = bytes.bytes();
  const skipped = Math.max(0, all.length - MAX_STORED_BYTES);
  return { firstKept: first + skipped, data: all.subarray(skipped) };
}

const newestOf = ({ stdout, stderr }: KeptOutput) => ({
  stdout: Math.max(stdout.firstKept, stdout.bytes - MAX_STORED_BYTES),
  stderr: Math.max(stderr.firstKept, stderr.bytes - MAX_STORED_BYTES),
});
