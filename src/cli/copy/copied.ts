import { setTimeout as delay } from 'node:timers/promises';
import { BerthError } from '../../client/index.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../cli-error.ts';
import { bytesText } from '../values/sizes.ts';

/** What has been copied so far. */
export type Copied = { files: number; bytes: number };

export type CopyOptions = {
  /** Whether existing files are replaced. */
  readonly replace: boolean;
};

export const copiedText = ({ files, bytes }: Copied): string =>
  `${files} ${files === 1 ? 'file' : 'files'}, ${bytesText(bytes)}`;

/** Shows how far a copy is, until its end; then says what was copied. */
export async function copying(cli: Cli, to: string, copy: (copied: Copied) => Promise<void>): Promise<void> {
  const copied: Copied = { files: 0, bytes: 0 };
  await cli
    .progress(() => `Copying: ${copiedText(copied)}`, copy(copied))
    .catch((failure) => {
      throw localFault(failure) ?? failure;
    });
  const answer = { files: copied.files, size_bytes: copied.bytes, to };
  cli.print.done(answer, `Copied ${copiedText(copied)}.`, to);
}

/** A failure of this machine's files in words; null for any other. */
function localFault(failure: unknown): CliError | null {
  const { code, syscall, path } = failure as Partial<NodeJS.ErrnoException>;
  if (code === undefined || syscall === undefined || path === undefined) return null;
  return new CliError(code === 'ENOENT' ? `There is no ${path}.` : `${path}: ${code}`, { code });
}

/** Passes the bytes of a stream on, and counts them. */
export async function* counted(
  content: AsyncIterable<Uint8Array>,
  ...counts: readonly Copied[]
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const part of content) {
    for (const count of counts) count.bytes += part.length;
    yield part;
  }
}

const TRIES = 6;
const LONGEST_WAIT_S = 60;

/** Repeats a call that the service refuses for now, such as the next of many uploads. The call must be repeatable. */
export async function patiently<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const waitSeconds = error instanceof BerthError ? error.retryAfterSeconds : null;
      if (waitSeconds === null || waitSeconds > LONGEST_WAIT_S || attempt === TRIES) throw error;
      await delay(waitSeconds * 1000, undefined, { signal });
    }
  }
}
