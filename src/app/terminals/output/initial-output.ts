import { type ResumeFrom, resumeFrom, snapshotFrom } from '../../../domain/terminals/terminal-resume.ts';
import type { TerminalStream } from './terminal-stream.ts';

/** `snapshot` precedes the buffered output from its end. */
export type InitialOutput = ResumeFrom & { readonly snapshot: Buffer | null };

/**
 * The first output for a client that resumes after that many bytes of the stream, or that starts with a screen
 * snapshot.
 */
export async function initialOutput(stream: TerminalStream, from: ResumeFrom): Promise<InitialOutput> {
  if (!from.redraw) return { ...from, snapshot: null };
  const snapshot = await stream.clientSnapshot();
  const offset = snapshot && snapshotFrom(snapshot.offset, snapshot.bytes.length);
  if (snapshot !== null && offset !== null) return { offset, redraw: true, snapshot: snapshot.bytes };
  // without a snapshot: all buffered output
  return { ...resumeFrom(stream.bufferedRange(), null), redraw: true, snapshot: null };
}
