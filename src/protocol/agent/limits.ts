/** Limits of the agent protocol, checked on both sides. Sizes are in bytes, times in milliseconds. */

export const AGENT_PROTOCOL_VERSION = 1;

/** The longest message. Most are far shorter; a command with its environment may be this long as JSON. */
export const MAX_MESSAGE_BYTES = 1_048_576;

/** The longest piece of a channel's bytes: a keystroke waits for at most one piece of each busy channel. */
export const CHUNK_BYTES = 16_384;

/** What a channel may have sent without being read, in each direction. */
export const WINDOW_BYTES = {
  shell: 262_144,
  shells: 0,
  end_shell: 0,
  exec: 262_144,
  file_open: 1_048_576,
  file_write: 1_048_576,
  file_remove: 0,
  file_stat: 0,
} as const;

export const MAX_CHANNELS = 256;

/** Sent and unacknowledged messages that are kept for a new connection; more is not sent. */
export const UNACKNOWLEDGED_BYTES = 4 * 1_048_576;

/** Above this much a session ends: credit and resets go on, and the last message may be the longest. */
export const MOST_UNACKNOWLEDGED_BYTES = UNACKNOWLEDGED_BYTES + MAX_MESSAGE_BYTES + 524_288;

/** What a kept message takes besides its content. */
export const MESSAGE_OVERHEAD_BYTES = 64;

/** Above this much in the line's own buffer nothing more is given to it, so that all channels take turns. */
export const LINE_BUFFER_BYTES = 65_536;

/** Received bytes that are acknowledged at once; fewer wait for `flush`. */
export const ACKNOWLEDGE_BYTES = 65_536;

/** How long both sides keep a session, and the agent its shells, without a connection or a viewer. */
export const SESSION_KEPT_MS = 300_000;

/** How long a request that is not a shell waits for a lost connection. Then it is answered without its result. */
export const REQUEST_KEPT_MS = 30_000;

export const PING_EVERY_MS = 10_000;

/** Silence after which a line is given up: two pings were not answered. */
export const SILENT_LINE_MS = 25_000;
