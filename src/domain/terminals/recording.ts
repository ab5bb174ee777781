import { MAIN_CONNECTION } from './terminal.ts';

/** Recordings of terminals as asciicast v2: a header line, then one line for each event. What is typed is never in one. */

/** `truncated`: ended by the service, as the user's recordings had become too large or the file could not be written. */
export type RecordingState = 'recording' | 'ended' | 'truncated';

export type CastSize = { readonly cols: number; readonly rows: number };

export type CastFacts = { readonly sizeBytes: number; readonly durationMs: number };

export type Recording = CastSize &
  CastFacts & {
    readonly id: string;
    readonly userId: string;
    /** Id of the container's row. */
    readonly dbId: string;
    readonly containerName: string;
    readonly connectionId: string;
    readonly startedAt: Date;
    readonly endedAt: Date | null;
    readonly state: RecordingState;
    /** The process that has the file. */
    readonly replica: string;
  };

/** Why a recording ends without having been asked to. */
export type CutReason = 'quota' | 'too_fast' | 'failed';

/** What those who watch a terminal are told. */
export const RECORDING_WORDS: { readonly [W in CutReason | 'started' | 'ended']: string } = {
  started: 'This terminal is being recorded.',
  ended: 'The recording has ended.',
  quota: 'The recording has ended: your recordings use all the space they are allowed.',
  too_fast: 'The recording has ended: the output came faster than it could be saved.',
  failed: 'The recording has ended: its file could not be written.',
};

/** A recording began or ended. */
export type RecordingNotice = Pick<Recording, 'id' | 'userId' | 'dbId' | 'connectionId'> & {
  readonly on: boolean;
  readonly message: string;
};

/** Whether a socket shows what is recorded: it is that terminal, or a guest's view of the owner's main one. */
export const watches = (
  entry: Pick<Recording, 'userId' | 'dbId' | 'connectionId'> & { readonly owner: boolean },
  of: Pick<RecordingNotice, 'userId' | 'dbId' | 'connectionId'>,
): boolean =>
  entry.dbId === of.dbId &&
  (entry.userId === of.userId
    ? entry.connectionId === of.connectionId
    : of.connectionId === MAIN_CONNECTION && !entry.owner);

/** A recording as far as it was made; `limitBytes` is what its file may hold. */
export type Cast = CastSize & CastFacts & { readonly limitBytes: number };

export type CastEvent =
  | { readonly type: 'output'; readonly atMs: number; readonly text: string }
  | ({ readonly type: 'size'; readonly atMs: number } & CastSize);

export type CastStep = { readonly cast: Cast; readonly line: string; readonly full: boolean };

/** What any recording counts for: what its file takes on a disk, and the room that it needs for anything worth it. */
export const LEAST_BYTES = 4_096;

/** What a recording of this size takes of the room that its user has. */
export const countedBytes = (sizeBytes: number): number => Math.max(LEAST_BYTES, sizeBytes);

/** What is left for one more recording; null when that is too little. */
export function remainingQuota(quotaMb: number, usedBytes: number): number | null {
  const room = quotaMb * 1_048_576 - usedBytes;
  return room < LEAST_BYTES ? null : room;
}

/** A recording that begins, and its first line. */
export function beginCast({ cols, rows }: CastSize, startedAt: Date, limitBytes: number): CastStep {
  const timestamp = Math.floor(startedAt.getTime() / 1000);
  const header = { version: 2, width: cols, height: rows, timestamp, env: { TERM: 'xterm-256color' } };
  const cast = { cols, rows, sizeBytes: 0, durationMs: 0, limitBytes };
  return written(cast, 0, JSON.stringify(header));
}

/** The recording with one more event, and the line for it. Without a line: nothing to say, or no room for it. */
export function nextCast(cast: Cast, event: CastEvent): CastStep {
  const atMs = Math.max(cast.durationMs, Math.round(event.atMs));
  if (event.type === 'output') {
    if (event.text === '') return { cast, line: '', full: false };
    return written(cast, atMs, JSON.stringify([atMs / 1000, 'o', event.text]));
  }
  const { cols, rows } = event;
  if (cols === cast.cols && rows === cast.rows) return { cast, line: '', full: false };
  return written({ ...cast, cols, rows }, atMs, JSON.stringify([atMs / 1000, 'r', `${cols}x${rows}`]));
}

function written(cast: Cast, atMs: number, json: string): CastStep {
  const line = `${json}\n`;
  const sizeBytes = cast.sizeBytes + Buffer.byteLength(line);
  if (sizeBytes > cast.limitBytes) return { cast, line: '', full: true };
  return { cast: { ...cast, sizeBytes, durationMs: atMs }, line, full: false };
}

/**
 * How much of the end of a file is whole: bytes up to the end of the last line that can be read, and the time it tells.
 * null when none of it can.
 */
export function wholePart(end: Buffer): CastFacts | null {
  let lineEnd = end.lastIndexOf(10);
  while (lineEnd >= 0) {
    const lineStart = lineEnd === 0 ? 0 : end.lastIndexOf(10, lineEnd - 1) + 1;
    const durationMs = timeOf(end.toString('utf8', lineStart, lineEnd));
    if (durationMs !== null) return { sizeBytes: lineEnd + 1, durationMs };
    lineEnd = lineStart - 1;
  }
  return null;
}

/** null for what is no line of a recording. */
function timeOf(line: string): number | null {
  try {
    const value: unknown = JSON.parse(line);
    if (Array.isArray(value)) return typeof value[0] === 'number' ? Math.round(value[0] * 1000) : null;
    return typeof value === 'object' && value !== null && 'version' in value ? 0 : null;
  } catch {
    return null;
  }
}
