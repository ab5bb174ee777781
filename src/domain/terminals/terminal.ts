/**
 * Terminal sessions: one for each WebSocket. A key is in use by at most one of them; the newer one closes and
 * replaces the older. What may happen under a key is in terminal-slot.ts.
 */
export type TerminalKey = `${string}:${string}:${string}`;

/** The key of the registry. Runtime ids of agents contain colons, so a key is never parsed back. */
export const terminalKey = (runtimeId: string, userId: string, connectionId: string): TerminalKey =>
  `${runtimeId}:${userId}:${connectionId}`;

export const MAIN_CONNECTION = 'main';

export type TerminalSize = { readonly cols: number; readonly rows: number };

/**
 * Name of the multiplexer session behind a connection. The owner's panes share one program each:
 * `main` for the main pane, so that it is found again after a dropped line, a reload or a restart.
 */
export const muxSessionName = (connectionId: string): string =>
  connectionId === MAIN_CONNECTION ? 'main' : `pane-${connectionId}`;

/** Why the service closes a terminal's socket. */
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
  /** The database gave no answer, or had no connection free: nothing is wrong with the terminal. */
  tryAgainLater: 'try again later',
  serviceRestarting: 'service restarting',
  /** The line to the program broke, but not the program: it is shown again as soon as the engine answers. */
  detached: 'detached',
  tooManyProcesses: 'too many processes',
  /** An earlier start of a process in the container has not come to an end. */
  unresponsive: 'container unresponsive',
} as const;

export type CloseReason = (typeof CLOSE)[keyof typeof CLOSE];
