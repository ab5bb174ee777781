import type { ScreenSnapshot } from '../terminals/output/screen-snapshot.ts';
import type { TerminalStream } from '../terminals/output/terminal-stream.ts';
import type { Recorder } from './recorder.ts';

/** Writes the terminal's earlier output: a screen snapshot and what follows it, or without one all buffered output. */
export function writeBacklog(
  recorder: Pick<Recorder, 'output'>,
  stream: TerminalStream,
  snapshot: ScreenSnapshot | null,
): void {
  const { start, end } = stream.bufferedRange();
  if (snapshot !== null) recorder.output(snapshot.bytes);
  recorder.output(stream.range(snapshot?.offset ?? start, end));
}
