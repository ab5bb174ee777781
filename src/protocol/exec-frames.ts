/**
 * The text frames of a command's socket. Binary frames are bytes: of the command's input to the service, and of its
 * output to the client, after one byte that names the stream. Described in docs/websockets.md.
 */
import {
  count,
  decode,
  echoed,
  exactly,
  type FrameIn,
  integer,
  isTrue,
  matching,
  number,
  numberOrNull,
  object,
  optional,
  text,
  texts,
  textsByName,
  textWithin,
} from './frames.ts';

const side = integer(1, 1000);
const MAX_TIMEOUT_SECONDS = 86_400;
/** Names a command for its user alone. A client chooses it at random. */
const run = matching(/^[a-zA-Z0-9_-]{16,64}$/);
const offset = integer(0, Number.MAX_SAFE_INTEGER);

/** The first byte of a binary frame to the client. */
export const EXEC_STREAMS = { stdout: 1, stderr: 2 } as const;
export type ExecStream = keyof typeof EXEC_STREAMS;

/** Signals that a client may send, without `SIG`. */
export const EXEC_SIGNALS = ['HUP', 'INT', 'KILL', 'QUIT', 'TERM', 'USR1', 'USR2'] as const;
export type ExecSignal = (typeof EXEC_SIGNALS)[number];

export const EXEC_CLIENT_FRAMES = {
  /** The first frame. */
  start: {
    /** Program and arguments; no shell. */
    command: texts(1, 1024, textWithin(0, 32_768)),
    env: optional(textsByName),
    /** `/workspace` if absent. */
    workdir: optional(textWithin(1, 4096)),
    /** No limit if absent. */
    timeout_seconds: optional(integer(1, MAX_TIMEOUT_SECONDS)),
    /** Whether it takes input. */
    stdin: isTrue,
    /** Gives it a terminal: all output is then stdout. */
    terminal: optional(object({ term: matching(/^[a-zA-Z0-9.+_-]{1,64}$/), cols: side, rows: side })),
    /** A name for `resume`. Without it the command ends with its socket. */
    run: optional(run),
  },
  /** The first frame of a socket that continues a command. */
  resume: {
    run,
    /** How many bytes of output the client has, of both streams. */
    received: offset,
  },
  resize: { cols: side, rows: side },
  /** A signal to the command and everything that it started. */
  signal: { signal: exactly(...EXEC_SIGNALS) },
  /** The input ends. */
  end_input: {},
  ping: { t: number },
  room: {
    /** The service may send this many more bytes of output. */
    bytes: integer(1, Number.MAX_SAFE_INTEGER),
    /** How many bytes of output the client has: they are never sent again. */
    received: optional(offset),
  },
};

export const EXEC_SERVER_FRAMES = {
  /** The command runs. */
  started: {},
  /** The command of `resume` goes on. The client sends the input and signals that the service lacks. */
  resumed: {
    /** How many bytes of input the service has. */
    received: count,
    /** How many signals the service has. */
    signals: count,
  },
  pong: { t: echoed },
  room: {
    /** The client may send this many more bytes of input. */
    bytes: count,
    /** How many bytes of input the service has; null from an older service. */
    received: numberOrNull,
  },
  /** The last frame, after all output. null: ended by its time limit. */
  exit: { exit_code: numberOrNull },
  /** The last frame: the command did not start, or its outcome is unknown. `fields`: faults of `start`. */
  refused: { code: text, error: text, fields: textsByName },
};

export type ExecClientFrame = FrameIn<typeof EXEC_CLIENT_FRAMES>;
export type ExecServerFrame = FrameIn<typeof EXEC_SERVER_FRAMES>;
export type ExecStart = Extract<ExecClientFrame, { type: 'start' }>;
export type ExecResume = Extract<ExecClientFrame, { type: 'resume' }>;

export const encodeExecFrame = (frame: ExecClientFrame | ExecServerFrame): string => JSON.stringify(frame);
/** For the service: null for all but a valid frame. */
export const decodeExecClientFrame = (json: string): ExecClientFrame | null =>
  decode(EXEC_CLIENT_FRAMES, json);
/** For clients: null for an unknown frame. */
export const decodeExecServerFrame = (json: string): ExecServerFrame | null =>
  decode(EXEC_SERVER_FRAMES, json);
