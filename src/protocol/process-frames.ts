/**
 * The text frames of a socket that is attached to a process, for the service and clients. A binary frame from the
 * client is input. One from the service is output: its first byte is 1 for stdout, 2 for stderr. Unknown frames are
 * ignored. Described in docs/websockets.md.
 */
import {
  count,
  decode,
  echoed,
  exactly,
  type FrameIn,
  integer,
  number,
  numberOrNull,
  oneOf,
  text,
  textOrNull,
} from './frames.ts';

const side = integer(1, 1000);

export const PROCESS_CLIENT_FRAMES = {
  /** The following binary frames are input from this offset on. */
  input_from: { offset: integer(0, Number.MAX_SAFE_INTEGER) },
  /** The input ends with what was sent before. */
  eof: {},
  resize: { cols: side, rows: side },
  signal: { signal: exactly('HUP', 'INT', 'QUIT', 'KILL', 'USR1', 'USR2', 'TERM', 'CONT', 'STOP') },
  ping: { t: number },
};

export const PROCESS_SERVER_FRAMES = {
  /** The first frame. */
  ready: {
    /** Offset of the first byte of stdout that follows. */
    stdout: count,
    stderr: count,
    /** The bytes of input that the process has; null where it takes none. */
    input_offset: numberOrNull,
  },
  /** Output before this offset was removed: the stream's next bytes begin here. */
  skipped: { stream: oneOf('stdout', 'stderr'), offset: count },
  /** The process has all input before this offset. */
  ack: { input_offset: count },
  /** Input, a size or a signal was refused, with the code that an HTTP answer would have. */
  refused: { code: text },
  pong: { t: echoed },
  /** The service is stopping and will close the socket: reconnect after this delay. */
  restarting: { retry_ms: count },
  /** The last frame, after all output: how the process ended. */
  exit: { exit_code: numberOrNull, signal: textOrNull, ended_by: text },
};

export type ProcessClientFrame = FrameIn<typeof PROCESS_CLIENT_FRAMES>;
export type ProcessServerFrame = FrameIn<typeof PROCESS_SERVER_FRAMES>;

/** The first byte of output. */
export const OUTPUT_MARK = { stdout: 1, stderr: 2 } as const;

export const encodeProcessFrame = (frame: ProcessClientFrame | ProcessServerFrame): string =>
  JSON.stringify(frame);
/** For the service: null for all but a valid frame. */
export const decodeProcessClientFrame = (json: string): ProcessClientFrame | null =>
  decode(PROCESS_CLIENT_FRAMES, json);
/** For clients: fields that are missing or wrong have safe values; null for an unknown frame. */
export const decodeProcessServerFrame = (json: string): ProcessServerFrame | null =>
  decode(PROCESS_SERVER_FRAMES, json);
