import { pictureFrom, type ResumeFrom, resumeFrom } from '../../../domain/terminals/terminal-resume.ts';
import type { TerminalStream } from './terminal-stream.ts';

/** `picture` comes before the buffered output, which goes on where it ends. */
export type FirstOutput = ResumeFrom & { readonly picture: Buffer | null };

/** What a client is sent first that goes on after so many bytes of the stream, or begins with a picture of the screen. */
export async function firstOutput(stream: TerminalStream, from: ResumeFrom): Promise<FirstOutput> {
  if (!from.redraw) return { ...from, picture: null };
  const picture = await stream.picture();
  const offset = picture && pictureFrom(picture.offset, picture.bytes.length);
  if (picture !== null && offset !== null) return { offset, redraw: true, picture: picture.bytes };
  // Without one, all buffered output.
  return { ...resumeFrom(stream.bufferedRange(), null), redraw: true, picture: null };
}
