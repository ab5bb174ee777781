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

/** Every way a terminal's socket is closed by the service. */
export const CLOSE = {
  inputGap: { code: 1008, reason: 'input gap' },
  ended: { code: 1000, reason: 'ended' },
  replaced: { code: 1000, reason: 'replaced' },
  unauthorized: { code: 4001, reason: 'unauthorized' },
  collaborationEnded: { code: 4003, reason: 'collaboration ended' },
  containerDeleted: { code: 4004, reason: 'container deleted' },
  tooSlow: { code: 4008, reason: 'too slow' },
  containerStopped: { code: 4009, reason: 'container stopped' },
  containerRestarted: { code: 4010, reason: 'container restarted' },
  notOpened: { code: 1011, reason: 'failed to open terminal' },
  /** The database gave no answer, or had no connection free: nothing is wrong with the terminal. */
  tryAgainLater: { code: 1013, reason: 'try again later' },
  serviceRestarting: { code: 4012, reason: 'service restarting' },
  /** The line to the program broke, but not the program: it is shown again as soon as the engine answers. */
  detached: { code: 4013, reason: 'detached' },
  tooManyProcesses: { code: 4014, reason: 'too many processes' },
  /** An earlier start of a process in the container has not come to an end. */
  unresponsive: { code: 4015, reason: 'container unresponsive' },
} as const;

export type CloseReason = (typeof CLOSE)[keyof typeof CLOSE];
