/**
 * What the service asks of an agent: one table for the openings of channels, one each for what is said in them. Sizes
 * are in bytes, `_at` is in milliseconds since 1970. Unknown fields are ignored, so that a newer side may send more.
 */
import { count, decode, type FrameIn, integer, isTrue, optional } from '../frames.ts';
import { environment, exactly, listUpTo, matching, objectOf, textsUpTo, textUpTo } from './fields.ts';

const side = integer(1, 1000);
const whole = integer(0, Number.MAX_SAFE_INTEGER);
/** Names a shell. The service chooses it. */
const shell = matching(/^[A-Za-z0-9_.:-]{1,128}$/);
const env = environment(512, 32_768);
/** Below the home, or absolute; empty for the home. */
const path = textUpTo(8_192);
const signal = matching(/^[A-Z0-9+-]{1,16}$/);
const exitCode = optional(integer(0, 255));

export const REQUESTS = {
  /** A login shell, new or living. Its channel is a viewer; a shell may have several. */
  shell: {
    shell,
    cols: side,
    rows: side,
    env,
    /** Bytes of its output that the viewer has; null for a new viewer. */
    after: optional(whole),
    /** Start it if it does not live. */
    create: isTrue,
    /** End a living one first. Needs `create`. */
    force_new: isTrue,
    /** Input has no effect. */
    view: isTrue,
  },
  shells: {},
  /** SIGHUP, after five seconds SIGKILL. */
  end_shell: { shell },
  exec: {
    command: textsUpTo(4_096, 131_072),
    env,
    /** null: the home. */
    cwd: optional(path),
    timeout_seconds: optional(integer(1, 86_400)),
    /** Whether input follows; otherwise it is closed from the start. */
    stdin: isTrue,
    /** With a terminal all output is stream 1, and the input has no end. */
    terminal: optional(objectOf({ term: matching(/^[a-zA-Z0-9.+_-]{1,64}$/), cols: side, rows: side })),
  },
  file_open: { path, folder_as: exactly('archive', 'listing') },
  /** The content follows, and its end. */
  file_write: {
    path,
    max_bytes: whole,
    /** A file that is there is refused. */
    only_new: isTrue,
  },
  file_remove: { path },
  file_stat: { path },
};

/** The agent has begun. The reply to `shell` comes before any output. */
export const REPLIES = {
  shell: {
    created: isTrue,
    /** Of the first byte of output to follow. */
    offset: whole,
    /** The output does not continue the viewer's: its screen starts empty. */
    redraw: isTrue,
    /** Bytes of input that this shell has taken, from all viewers. */
    input_offset: whole,
    pid: whole,
    cols: side,
    rows: side,
    started_at: whole,
  },
  /** An older agent gives no terminal. */
  exec: { pid: whole, terminal: isTrue },
  file: { size_bytes: whole, modified_at: whole },
  archive: {},
  /** One JSON object a line follows: see `decodeEntry`. */
  listing: {},
  /** An older agent replaces a file whatever `only_new` was. */
  file_write: { only_new: isTrue },
};

/** In an open shell, or in a command with a terminal, from the service. */
export const SERVICE_NOTES = {
  resize: { cols: side, rows: side },
  signal: { signal },
  /** Ends the shell like `end_shell`. */
  end: {},
  /** Makes the program draw its screen again. */
  redraw: {},
};

/** In an open shell, from the agent. */
export const AGENT_NOTES = {
  /** The shell has taken all input before this offset. */
  input: { offset: whole },
  size: { cols: side, rows: side },
};

const ENTRY = {
  name: textUpTo(255),
  kind: exactly('file', 'folder', 'link', 'other'),
  size_bytes: whole,
  mode: integer(0, 0o7777),
  modified_at: count,
};

/** The last message of a channel. */
export const RESULTS = {
  /** Both null when unknown. */
  shell: { exit_code: exitCode, signal: optional(signal) },
  shells: {
    shells: listUpTo(
      64,
      objectOf({
        shell,
        pid: whole,
        cols: side,
        rows: side,
        viewers: whole,
        started_at: whole,
        idle_ms: whole,
      }),
    ),
  },
  /** False when there was none. */
  end_shell: { ended: isTrue },
  /** `cut`: the rest of the output was lost with the time limit. */
  exec: { exit_code: exitCode, signal: optional(signal), timed_out: isTrue, cut: isTrue },
  /** False when limits cut a listing, or names that are not UTF-8 are omitted. */
  file_open: { complete: isTrue },
  file_write: { size_bytes: whole, is_new: isTrue },
  file_remove: {},
  file_stat: { entry: objectOf(ENTRY) },
};

export type ChannelRequest = FrameIn<typeof REQUESTS>;
export type ChannelKind = ChannelRequest['type'];
export type RequestOf<K extends ChannelKind> = Extract<ChannelRequest, { type: K }>;
export type ChannelReply = FrameIn<typeof REPLIES>;
export type ServiceNote = FrameIn<typeof SERVICE_NOTES>;
export type AgentNote = FrameIn<typeof AGENT_NOTES>;
export type ChannelNote = ServiceNote | AgentNote;
export type ChannelResult = FrameIn<typeof RESULTS>;
export type ResultOf<K extends ChannelKind> = Extract<ChannelResult, { type: K }>;

/** Replies by the kind of the request. */
const REPLY_TYPES: { readonly [K in ChannelKind]: readonly ChannelReply['type'][] } = {
  shell: ['shell'],
  shells: [],
  end_shell: [],
  exec: ['exec'],
  file_open: ['file', 'archive', 'listing'],
  file_write: ['file_write'],
  file_remove: [],
  file_stat: [],
};

export const decodeRequest = (json: string): ChannelRequest | null => decode(REQUESTS, json);

export function decodeReply(kind: ChannelKind, json: string): ChannelReply | null {
  const reply = decode(REPLIES, json);
  return reply !== null && REPLY_TYPES[kind].includes(reply.type) ? reply : null;
}

/** null for one from a newer side, which is ignored, as a malformed one is. */
export const decodeNote = (from: 'service' | 'agent', json: string): ChannelNote | null =>
  from === 'service' ? decode(SERVICE_NOTES, json) : decode(AGENT_NOTES, json);

export function decodeResult(kind: ChannelKind, json: string): ChannelResult | null {
  const result = decode(RESULTS, json);
  return result?.type === kind ? result : null;
}

/** A line of a listing. */
export type ListedEntry = NonNullable<ReturnType<typeof readEntry>>;
const readEntry = (json: string) => decode({ entry: ENTRY }, json);
export const encodeEntry = (entry: Omit<ListedEntry, 'type'>): string =>
  `${JSON.stringify({ type: 'entry', ...entry })}\n`;
export const decodeEntry = (json: string): ListedEntry | null => readEntry(json);
