import { OUTPUT_MARK, type ProcessServerFrame } from '../../protocol/process-frames.ts';
import type { Schemas } from '../request/api.ts';
import type { OutputEnd, OutputPiece } from './process-output.ts';

export type PtySize = Schemas['PtySize'];

export type AttachOptions = {
  /** How many bytes of each stream to skip. */
  readonly after?: { readonly stdout: number; readonly stderr: number };
  /** The size of the caller's terminal; the process's terminal is set to it at each connection. */
  readonly size?: PtySize;
  /** Detaches. */
  readonly signal?: AbortSignal;
  /** Called when the connection is lost; the next attempt follows by itself. */
  readonly onLost?: () => unknown;
};

/** Path and query of a process's socket, for the output after these offsets; `writer` names this client. */
export const attachPath = (
  path: string,
  { stdout, stderr }: { stdout: number; stderr: number },
  writer: string,
): string => `${path}/attach?after=${stdout},${stderr}&writer=${writer}`;

/** The output in a binary frame. It begins at the offset `at` of its stream, which is advanced by its length. */
export function pieceOf(data: Uint8Array, at: { stdout: number; stderr: number }): OutputPiece {
  const stream = data[0] === OUTPUT_MARK.stderr ? 'stderr' : 'stdout';
  const bytes = data.slice(1);
  const offset = at[stream];
  at[stream] += bytes.length;
  return { stream, offset, bytes, text: new TextDecoder().decode(bytes) };
}

/** How the process ended, from its last frame. */
export const endOf = (exit: Extract<ProcessServerFrame, { type: 'exit' }>): OutputEnd => ({
  exitCode: exit.exit_code,
  signal: exit.signal,
  status: 'ended',
  endedBy: exit.ended_by,
});
