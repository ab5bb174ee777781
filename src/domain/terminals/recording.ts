import { MAIN_CONNECTION, type TerminalSize } from './terminal.ts';

/** Recordings of terminals as asciicast v2: a header line, then a line per event. Input is never recorded. */

/** `truncated`: ended by the service, because the quota was reached or the file could not be written. */
export type RecordingState = 'recording' | 'ended' | 'truncated';

export type CastFacts = { readonly sizeBytes: number; readonly durationMs: number };

export type Recording = TerminalSize &
  CastFacts & {
    readonly id: string;
    readonly userId: string;
    readonly dbId: string;
    readonly containerName: string;
    readonly connectionId: string;
    readonly startedAt: Date;
    readonly endedAt: Date | null;
    readonly state: RecordingState;
    /** The process whose disk has the file. */
    readonly replica: string;
  };

/** Why the service ended a recording. */
export type CutReason = 'quota' | 'too_fast' | 'failed';

/** Notices for the terminal's viewers. */
export const RECORDING_WORDS: { readonly [W in CutReason | 'started' | 'ended']: string } = {
  started: 'This terminal is being recorded.',
  ended: 'The recording has ended.',
  quota: 'The recording has ended: your recordings use all the space they are allowed.',
  too_fast: 'The recording has ended: the output came faster than it could be saved.',
  failed: 'The recording has ended: its file could not be written.',
};

/** A recording started or ended. */
export type RecordingNotice = Pick<Recording, 'id' | 'userId' | 'dbId' | 'connectionId'> & {
  readonly on: boolean;
  readonly message: string;
};

/**
 * Whether a socket shows the recorded terminal: it is that terminal, or a participant's view of the owner's main one.
 */
export const watches = (
  entry: Pick<Recording, 'userId' | 'dbId' | 'connectionId'> & { readonly owner: boolean },
  of: Pick<RecordingNotice, 'userId' | 'dbId' | 'connectionId'>,
): boolean =>
  entry.dbId === of.dbId &&
  (entry.userId === of.userId
    ? entry.connectionId === of.connectionId
    : of.connectionId === MAIN_CONNECTION && !entry.owner);

/** A recording so far; `limitBytes` limits its file. */
export type Cast = TerminalSize & CastFacts & { readonly limitBytes: number };

export type CastEvent =
  | { readonly type: 'output'; readonly atMs: number; readonly text: string }
  | ({ readonly type: 'size'; readonly atMs: number } & TerminalSize);

export type CastStep = { readonly cast: Cast; readonly line: string; readonly full: boolean };

/** The least that a recording counts, and the least free quota to start one: a disk block. */
export const LEAST_BYTES = 4_096;

/** What a recording of this size uses of its user's quota. */
export const countedBytes = (sizeBytes: number): number => Math.max(LEAST_BYTES, sizeBytes);

/** The quota left for another recording; null when that is too little. */
export function remainingQuota(quotaMb: number, usedBytes: number): number | null {
  const room = quotaMb * 1_048_576 - usedBytes;
  return room < LEAST_BYTES ? null : room;
}

export function beginCast({ cols, rows }: TerminalSize, startedAt: Date, limitBytes: number): CastStep {
  const timestamp = Math.floor(startedAt.getTime() / 1000);
  const header = { version: 2, width: cols, height: rows, timestamp, env: { TERM: 'xterm-256color' } };
  const cast = { cols, rows, sizeBytes: 0, durationMs: 0, limitBytes };
  return written(cast, 0, JSON.stringify(header));
}

/** The recording after an event, and the line for it; null when nothing is to be written or the limit is reached. */
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

/** The valid part of a file's end: bytes up to the last readable line, and its time. null without such a line. */
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

/** The time of a line; null for anything else. */
function timeOf(line: string): number | null {
  try {
    const value: unknown = JSON.parse(line);
    if (Array.isArray(value)) return typeof value[0] === 'number' ? Math.round(value[0] * 1000) : null;
    return typeof value === 'object' && value !== null && 'version' in value ? 0 : null;
  } catch {
    return null;
  }
}
