/**
 * The text frames of a terminal socket, for the service, the page and other clients. Binary frames are bytes of the
 * terminal. Unknown frames are ignored, so that a newer side may send more. Described in docs/terminals.md; their schemas are in docs/websockets.md.
 */
import {
  count,
  decode,
  echoed,
  type FrameIn,
  integer,
  isNotFalse,
  isTrue,
  listOf,
  number,
  numberOrNull,
  objectOrNull,
  oneOf,
  optional,
  positiveOrNull,
  text,
  textOrNull,
} from './frames.ts';

const side = integer(1, 1000);
const offset = integer(0, Number.MAX_SAFE_INTEGER);
const questionId = optional(integer(0, Number.MAX_SAFE_INTEGER));

export const CLIENT_FRAMES = {
  resize: { cols: side, rows: side },
  ping: { t: number },
  /** The following binary frames are input from this offset on. */
  input_from: { offset },
  /** The user scrolls back. The answer has the newest request's id. */
  look_back: { id: questionId },
  /** The multiplexer is to redraw its screen. */
  redraw: { id: questionId },
};

export const SERVER_FRAMES = {
  ready: {
    /** Id of the output stream. */
    stream: text,
    /** Offset of the next output byte. */
    offset: count,
    /** The output does not continue the client's: its screen starts empty. */
    redraw: isTrue,
    /** Count of input bytes that the service has. */
    input_offset: count,
    cols: count,
    rows: count,
    connection_id: text,
    /** null for a shell without a multiplexer. */
    mux_session: textOrNull,
    /** The container's last start: programs of an earlier one have ended. */
    started_at: textOrNull,
    /** tmux could not start: this is a plain shell. */
    fallback: isTrue,
    owner: isNotFalse,
    mode: oneOf('control', 'view'),
  },
  /** The engine has all input before this offset. */
  ack: { input_offset: count },
  pong: { t: echoed },
  on_screen: {
    id: numberOrNull,
    program: oneOf('shell', 'full_screen'),
    /** Of a shell inside a multiplexer at one moment: the newest history and, without a gap, the screen. */
    snapshot: objectOrNull({
      cols: count,
      rows: count,
      /** All rows above the screen, including those too old for `text`. */
      history_rows: count,
      /** On the screen, from 0. */
      cursor_x: count,
      cursor_y: count,
      /** Lines separated by line feeds; the last `rows` rows are the screen. */
      text,
    }),
  },
  /** The multiplexer was asked to redraw, as output. */
  redrawn: { id: numberOrNull },
  /** The owner's window size, for all; nulls when each window has its own again. */
  size: { cols: positiveOrNull, rows: positiveOrNull },
  /** Users who have the shared terminal open, the owner first; empty when it is no longer shared. */
  participants: {
    participants: listOf({ user_id: text, username: text, owner: isTrue, mode: oneOf('view', 'control') }),
  },
  notice: { message: text },
  /** The output is recorded from now on, or no longer. */
  recording: { on: isTrue, id: text },
  /** The service ends, and a close follows: reconnect after this delay. */
  restarting: { retry_ms: count },
  exit: { code: numberOrNull },
};

export type ClientFrame = FrameIn<typeof CLIENT_FRAMES>;
export type ServerFrame = FrameIn<typeof SERVER_FRAMES>;
export type ReadyFrame = Extract<ServerFrame, { type: 'ready' }>;
export type OnScreenFrame = Extract<ServerFrame, { type: 'on_screen' }>;
export type Snapshot = NonNullable<OnScreenFrame['snapshot']>;
export type Participant = Extract<ServerFrame, { type: 'participants' }>['participants'][number];

export const encodeFrame = (frame: ClientFrame | ServerFrame): string => JSON.stringify(frame);
/** For the service: null for all but a valid frame. */
export const decodeClientFrame = (json: string): ClientFrame | null => decode(CLIENT_FRAMES, json);
/** For clients: fields that are missing or wrong have safe values; null for an unknown frame. */
export const decodeServerFrame = (json: string): ServerFrame | null => decode(SERVER_FRAMES, json);
