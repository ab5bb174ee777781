/**
 * `berth/protocol`: the frames of the sockets of terminals, processes and commands, the close codes and the
 * subprotocols, for clients.
 */
export * from './close-codes.ts';
export * from './exec-frames.ts';
export * from './process-frames.ts';
export * from './subprotocols.ts';
export * from './terminal-frames.ts';
