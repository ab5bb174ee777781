export const TERMINAL_PROTOCOL = 'berth.terminal.v1';
/** A byte stream that carries SSH. */
export const SSH_PROTOCOL = 'berth.ssh.v1';
export const EVENTS_PROTOCOL = 'berth.events.v1';
/** A command with its input and output. */
export const EXEC_PROTOCOL = 'berth.exec.v1';
export const FILES_PROTOCOL = 'berth.files.v1';
export const PROCESS_PROTOCOL = 'berth.process.v1';
export const AGENT_PROTOCOL = 'berth.agent.v1';

/** Marks the subprotocol that is the credential: browsers cannot set headers on a WebSocket. */
export const BEARER_PREFIX = 'bearer.';

/** The subprotocols that a client offers. */
export const subprotocols = (protocol: string, token: string): string[] => [
  protocol,
  `${BEARER_PREFIX}${token}`,
];
