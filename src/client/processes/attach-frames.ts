import { OUTPUT_MARK, type ProcessServerFrame } from '../../protocol/process-frames.ts';
import type { Schemas } from '../request/api.ts';
import type { OutputEnd, OutputPiece } from './process-output.ts';

export type PtySize = Schemas['PtySize'];

export type AttachOptions = {
  /** How much of each stream to skip, in bytes. */
  readonly after?: { readonly stdout: number; readonly stderr: number };
  /** Of this end's terminal: the process's gets it at each connection. */
  readonly size?: PtySize;
  /** Detaches. */
  readonly signal?: AbortSignal;
  /** A line was lost, and the next try follows by itself. */
  readonly onLost?: () => unknown;
};

/** Path and query of a process's socket, for what follows these offsets. */
export const attachPath = (path: string, { stdout, stderr }: { stdout: number; stderr: number }): string =>
  `${path}/attach?after=${stdout},${stderr}`;

/** The output of a binary frame. Its place follows from that of the output before, which it moves. */
export function pieceOf(data: Uint8Array, at: { stdout: number; stderr: number }): OutputPiece {
  const stream = data[0] === OUTPUT_MARK.stderr ? 'stderr' : 'stdout';
  const bytes = data.slice(1);
  const offset = at[stream];
  at[stream] += bytes.length;
  return { stream, offset, bytes, text: new TextDecoder().decode(bytes) };
}

export const endOf = (exit: Extract<ProcessServerFrame, { type: 'exit' }>): OutputEnd => ({
  ...{ exitCode: exit.exit_code, signal: exit.signal, status: 'ended', endedBy: exit.ended_by },
});
