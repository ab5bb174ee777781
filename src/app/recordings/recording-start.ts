import type { ScreenSnapshot } from '../terminals/output/screen-snapshot.ts';
import type { TerminalStream } from '../terminals/output/terminal-stream.ts';
import type { Recorder } from './recorder.ts';

/** Writes what a terminal has shown so far: a picture and the output since, or without one all buffered output. */
export function writeBacklog(
  recorder: Pick<Recorder, 'output'>,
  stream: TerminalStream,
  snapshot: ScreenSnapshot | null,
): void {
  const { start, end } = stream.bufferedRange();
  if (snapshot !== null) recorder.output(snapshot.bytes);
  recorder.output(stream.range(snapshot?.offset ?? start, end));
}
