import { type Backoff, retryDelayMs } from '../backoff.ts';
import { linesOf } from '../inside/lines.ts';
import { BerthError } from '../request/errors.ts';
import type { Requester } from '../request/requester.ts';

/** A piece of output. `bytes` is what the program wrote; `text` is that as UTF-8. */
export type OutputPiece = {
  readonly stream: 'stdout' | 'stderr';
  /** Where it begins in its stream, in bytes. */
  readonly offset: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string;
};

export type OutputOptions = {
  /** How much of each stream to skip, in bytes. */
  readonly after?: { readonly stdout: number; readonly stderr: number };
  /** Whether it goes on until the process ends; true by default. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
};

/** How a process was when its output ended. */
export type OutputEnd = {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly status: string;
  readonly endedBy: string | null;
};

type Line = {
  readonly stream?: 'stdout' | 'stderr';
  readonly offset?: number;
  readonly data?: string;
  readonly base64?: string;
  readonly exit_code?: number | null;
  readonly signal?: string | null;
  readonly status?: string;
  readonly ended_by?: string | null;
};

const RESUME: Backoff = { firstMs: 100, maxMs: 5_000 };
/** Attempts in a row that bring nothing, about a minute of them. */
const MAX_ATTEMPTS = 15;

/**
 * The output of a process. After a lost connection it continues at the byte where it was; a jump of `offset` is output
 * that was removed because there was too much. Returns how the process was at the end.
 */
export async function* outputOf(
  requester: Requester,
  path: string,
  { after = { stdout: 0, stderr: 0 }, follow = true, signal }: OutputOptions = {},
): AsyncGenerator<OutputPiece, OutputEnd, undefined> {
  const at = { ...after };
  for (let attempt = 0; ; attempt += 1) {
    try {
      const query = `after=${at.stdout},${at.stderr}&follow=${follow}`;
      const asked = { signal: signal ?? null, timeoutMs: null };
      const response = await requester.send(`${path}/output?${query}`, asked);
      for await (const line of linesOf(response.body)) {
        const parsed = JSON.parse(line) as Line;
        const piece = pieceOf(parsed);
        if (piece === null) return endOf(parsed);
        attempt = 0;
        at[piece.stream] = piece.offset + piece.bytes.length;
        yield piece;
      }
    } catch (failure) {
      signal?.throwIfAborted();
      if (!mayResume(failure) || attempt >= MAX_ATTEMPTS) throw failure;
    }
    if (attempt >= MAX_ATTEMPTS)
      throw new BerthError(0, 'unreachable', 'the output of the process broke off');
    await pause(retryDelayMs(attempt, Math.random(), RESUME));
  }
}

/** A service that restarts refuses, or breaks the answer off. */
const mayResume = (failure: unknown): boolean =>
  failure instanceof BerthError
    ? failure.status === 0 || failure.status >= 500
    : !(failure instanceof SyntaxError);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function pieceOf({ stream, offset = 0, data, base64 }: Line): OutputPiece | null {
  if (stream === undefined) return null;
  const bytes = base64 === undefined ? new TextEncoder().encode(data ?? '') : bytesOf(base64);
  return { stream, offset, bytes, text: data ?? new TextDecoder().decode(bytes) };
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

const endOf = ({ exit_code = null, signal = null, status = 'ended', ended_by = null }: Line): OutputEnd => ({
  exitCode: exit_code,
  signal,
  status,
  endedBy: ended_by,
});
