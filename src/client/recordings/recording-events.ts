import { linesOf } from '../inside/lines.ts';

/** Something that a recorded terminal showed, or its new size as `120x40`. */
export type RecordingEvent = {
  /** Since the recording's start. */
  readonly atSeconds: number;
  readonly type: 'output' | 'resize';
  readonly data: string;
};

const TYPES: Readonly<Record<string, RecordingEvent['type']>> = { o: 'output', r: 'resize' };

/** The events of asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/), without its header. */
export async function* recordingEvents(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<RecordingEvent, void, undefined> {
  for await (const line of linesOf(body)) {
    const event: unknown = JSON.parse(line);
    if (!Array.isArray(event)) continue;
    const [atSeconds, kind, data] = event as [number, string, string];
    const type = TYPES[kind];
    if (type !== undefined) yield { atSeconds, type, data };
  }
}
