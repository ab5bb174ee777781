#!/usr/bin/env node
import { EXIT } from './exit-codes.ts';
import { processIo } from './io/io.ts';
import { main } from './main.ts';

// A reader that has seen enough, such as `head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
});

process.on('SIGINT', () => {
  // A command that handles the signal itself goes on.
  if (process.listenerCount('SIGINT') === 1) process.exit(EXIT.interrupted);
});

process.exitCode = await main(process.argv.slice(2), processIo());
