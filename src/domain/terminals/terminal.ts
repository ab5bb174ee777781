/**
 * Terminals, one per WebSocket. At most one has a key; a newer one closes and replaces it. The states of a key are in
 * terminal-slot.ts.
 */
export type TerminalKey = `${string}:${string}:${string}`;

/** Runtime ids of agents contain colons, so a key is never parsed. */
export const terminalKey = (runtimeId: string, userId: string, connectionId: string): TerminalKey =>
  `${runtimeId}:${userId}:${connectionId}`;

export const MAIN_CONNECTION = 'main';

export type TerminalSize = { readonly cols: number; readonly rows: number };

/**
 * The multiplexer session of a connection. The owner's sessions are `main` for the main pane, so that it is found after
 * a disconnect, a reload or a restart, and one per other pane.
 */
export const muxSessionName = (connectionId: string): string =>
  connectionId === MAIN_CONNECTION ? 'main' : `pane-${connectionId}`;

/** A session that an SSH client named. Like `main`, it lives until its shell or its container ends. */
export const namedSession = (name: string): string => (name === MAIN_CONNECTION ? 'main' : `named-${name}`);

export const CLOSE = {
  inputGap: 'input gap',
  ended: 'ended',
  replaced: 'replaced',
  unauthorized: 'unauthorized',
  collaborationEnded: 'collaboration ended',
  containerDeleted: 'container deleted',
  tooSlow: 'too slow',
  containerStopped: 'container stopped',
  containerRestarted: 'container restarted',
  notOpened: 'failed to open terminal',
  /** The database did not answer or had no free connection; the terminal is intact. */
  tryAgainLater: 'try again later',
  serviceRestarting: 'service restarting',
  /** The connection to the program broke, but not the program: it is shown again when the engine answers. */
  detached: 'detached',
  tooManyProcesses: 'too many processes',
  /** An earlier process start in the container has not ended. */
  unresponsive: 'container unresponsive',
} as const;

export type CloseReason = (typeof CLOSE)[keyof typeof CLOSE];
