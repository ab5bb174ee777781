/** Requests to close a terminal, for the process that has its socket. */
export interface TerminalCloseRequestRepository {
  /** False when the terminal is gone or its close is already requested. */
  insert(terminalId: string): Promise<boolean>;
  /** Ids of this process's terminals with a requested close. */
  listFor(replica: string): Promise<readonly string[]>;
}
