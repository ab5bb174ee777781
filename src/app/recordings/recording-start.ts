import type { Picture } from '../terminals/output/screen-snapshot.ts';
import type { TerminalStream } from '../terminals/output/terminal-stream.ts';
import type { Recorder } from './recorder.ts';

/** Writes what a terminal has shown so far: a picture and the output since, or without one all buffered output. */
export function writeBacklog(
  recorder: Pick<Recorder, 'output'>,
  stream: TerminalStream,
  picture: Picture | null,
): void {
  const { start, end } = stream.bufferedRange();
  if (picture !== null) recorder.output(picture.bytes);
  recorder.output(stream.range(picture?.offset ?? start, end));
}
