import { type ResumeFrom, resumeFrom, snapshotFrom } from '../../../domain/terminals/terminal-resume.ts';
import type { TerminalStream } from './terminal-stream.ts';

/** `picture` comes before the buffered output, which goes on where it ends. */
export type InitialOutput = ResumeFrom & { readonly snapshot: Buffer | null };

/** What a client is sent first that goes on after so many bytes of the stream, or begins with a picture of the screen. */
export async function initialOutput(stream: TerminalStream, from: ResumeFrom): Promise<InitialOutput> {
  if (!from.redraw) return { ...from, snapshot: null };
  const snapshot = await stream.clientSnapshot();
  const offset = snapshot && snapshotFrom(snapshot.offset, snapshot.bytes.length);
  if (snapshot !== null && offset !== null) return { offset, redraw: true, snapshot: snapshot.bytes };
  // Without one, all buffered output.
  return { ...resumeFrom(stream.bufferedRange(), null), redraw: true, snapshot: null };
}
