import type { Recorder } from './recorder.ts';
import type { Picture } from './screen-history.ts';
import type { TerminalStream } from './terminal-stream.ts';

/** Writes what a terminal has shown so far: a picture and the output since, or without one all output that is held. */
export function writeSoFar(
  recorder: Pick<Recorder, 'output'>,
  stream: TerminalStream,
  picture: Picture | null,
): void {
  const { start, end } = stream.held();
  if (picture !== null) recorder.output(picture.bytes);
  recorder.output(stream.range(picture?.offset ?? start, end));
}
