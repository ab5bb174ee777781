/** `berth/protocol`: the terminal socket's frames, the close codes and the subprotocols, for clients. */
export * from './close-codes.ts';
export * from './subprotocols.ts';
export * from './terminal-frames.ts';
